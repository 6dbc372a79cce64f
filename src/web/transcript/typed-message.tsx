/** What a person wrote: text as typed, the files they named as chips in it, everything else below. */
import type { ReactElement, ReactNode } from "react";
import { isText } from "../../client/index.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { instanceOf } from "../app/home-store.ts";
import { useObservable, useServices } from "../app/hooks.ts";
import { hrefOf } from "../app/route.ts";
import { type Mention, mentionOf, pathOf } from "../composer/mentions.ts";
import { Icon } from "../ui/icon.tsx";
import { ContentBlocks } from "./content-blocks.tsx";

type Part =
  | { readonly kind: "line"; readonly blocks: JsonObject[] }
  | { readonly kind: "block"; readonly block: JsonObject };

export function TypedMessage({ blocks }: { readonly blocks: readonly JsonObject[] }): ReactNode {
  return partsOf(blocks).map((part, index) =>
    part.kind === "line" ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: blocks are only appended
      <p className="plain-text" dir="auto" key={index}>
        {part.blocks.map((block, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: blocks are only appended
          <Piece block={block} key={at} />
        ))}
      </p>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: blocks are only appended
      <ContentBlocks blocks={[part.block]} isPlain key={index} />
    ),
  );
}

/** Text and named files run on in one line, as they were typed. */
function partsOf(blocks: readonly JsonObject[]): readonly Part[] {
  const parts: Part[] = [];
  for (const block of blocks) {
    const isInline = isText(block) || mentionOf(block) !== undefined;
    const last = parts.at(-1);
    if (!isInline) parts.push({ kind: "block", block });
    else if (last?.kind === "line") last.blocks.push(block);
    else parts.push({ kind: "line", blocks: [block] });
  }
  return parts;
}

function Piece({ block }: { readonly block: JsonObject }): ReactNode {
  if (isText(block)) return block.text;
  const mention = mentionOf(block);
  return mention === undefined ? null : <MentionChip mention={mention} />;
}

/** Leads to the file where this device may read it: the hub says no itself. */
function MentionChip({ mention }: { readonly mention: Mention }): ReactElement {
  const { home, router } = useServices();
  const route = useObservable(router.route);
  const sessionId = route.screen === "session" ? route.sessionId : "";
  const instance = instanceOf(useObservable(home.state), sessionId);
  const content = (
    <>
      <Icon name="file" small />
      <bdi>{mention.name}</bdi>
    </>
  );
  if (instance === undefined) {
    return (
      <span className="mention" title={mention.path}>
        {content}
      </span>
    );
  }
  // Other clients give a file any name they like; its address says where it is.
  const path = pathOf(mention.uri);
  return (
    <a
      className="mention"
      title={mention.path}
      href={hrefOf({ screen: "files", sessionId, instanceId: instance.id, path })}
    >
      {content}
    </a>
  );
}
