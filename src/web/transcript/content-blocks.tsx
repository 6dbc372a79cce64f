/** Shows the content blocks of a message or a tool's output. */
import { type ReactElement, type ReactNode, useState } from "react";
import { isText } from "../../client/index.ts";
import { type JsonObject, objectAt, stringAt } from "../../protocol/json.ts";
import { useOpenLink } from "../markdown/link-dialog.tsx";
import { Markdown } from "../markdown/markdown.tsx";
import { Icon } from "../ui/icon.tsx";
import { baseName } from "../ui/path.ts";

export interface ContentBlocksProps {
  readonly blocks: readonly JsonObject[];
  /** A person's own text is shown as typed, an agent's as Markdown. */
  readonly isPlain?: boolean;
}

export function ContentBlocks({ blocks, isPlain = false }: ContentBlocksProps): ReactNode {
  return blocks.map((block, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: blocks are only appended
    <ContentBlock key={index} block={block} isPlain={isPlain} />
  ));
}

function ContentBlock({
  block,
  isPlain,
}: {
  readonly block: JsonObject;
  readonly isPlain: boolean;
}): ReactElement | null {
  if (isText(block)) {
    if (!isPlain) return <Markdown text={block.text} />;
    return (
      <p className="plain-text" dir="auto">
        {block.text}
      </p>
    );
  }
  switch (block["type"]) {
    case "image":
      return <ImageBlock block={block} isShown={isPlain} />;
    case "audio":
      return <Attachment icon="bell" name="Audio" />;
    case "resource_link":
      return <ResourceLink block={block} />;
    case "resource":
      return <Resource block={block} />;
    default:
      return <Attachment icon="question" name={`Content of kind “${stringAt(block, "type") ?? "unknown"}”`} />;
  }
}

const IMAGE_TYPES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"]);

/** Bytes that came with the message, so nothing is fetched; an agent's image is still shown only when wanted. */
function ImageBlock({ block, isShown }: { readonly block: JsonObject; readonly isShown: boolean }): ReactElement {
  const [isOpen, setOpen] = useState(isShown);
  const mimeType = stringAt(block, "mimeType") ?? "";
  const data = stringAt(block, "data") ?? "";
  if (!IMAGE_TYPES.has(mimeType) || data === "") return <Attachment icon="image" name={`Image (${mimeType})`} />;
  if (!isOpen) {
    return (
      <button type="button" className="button small" onClick={() => setOpen(true)}>
        <Icon name="image" small /> Show image
      </button>
    );
  }
  return <img className="image-block" src={`data:${mimeType};base64,${data}`} alt="Attached" />;
}

function ResourceLink({ block }: { readonly block: JsonObject }): ReactElement {
  const openLink = useOpenLink();
  const uri = stringAt(block, "uri") ?? "";
  const name = stringAt(block, "title") ?? stringAt(block, "name") ?? baseName(uri);
  return (
    <button type="button" className="attachment" onClick={() => openLink(uri)}>
      <Icon name="link" small /> <span className="truncate">{name}</span>
    </button>
  );
}

function Resource({ block }: { readonly block: JsonObject }): ReactElement {
  const resource = objectAt(block, "resource");
  const text = stringAt(resource, "text");
  const name = baseName(stringAt(resource, "uri") ?? "resource");
  if (text === undefined) return <Attachment icon="file" name={name} />;
  return (
    <details className="resource">
      <summary>
        <Icon name="file" small /> {name}
      </summary>
      <pre className="plain-block">{text}</pre>
    </details>
  );
}

function Attachment({
  icon,
  name,
}: {
  readonly icon: "bell" | "question" | "image" | "file";
  readonly name: string;
}): ReactElement {
  return (
    <span className="attachment">
      <Icon name={icon} small /> <span className="truncate">{name}</span>
    </span>
  );
}
