/** ACP prompt blocks as ZCode takes them: one text and attachments. */
import { fileURLToPath } from "node:url";
import { isObject, type Json, type JsonObject, objectAt, stringAt } from "../../../protocol/json.ts";

export interface PromptContent {
  readonly text: string;
  readonly attachments: readonly JsonObject[];
}

/** A `file:` URI as a path, decoded; other URIs as they are. */
function shownUri(uri: string): string {
  if (!uri.startsWith("file://")) return uri;
  try {
    return fileURLToPath(uri);
  } catch {
    return uri;
  }
}

const link = (name: string | undefined, uri: string): string => {
  const path = shownUri(uri);
  return `[related resource: ${name ?? path.split(/[\\/]/).at(-1) ?? path}](${path})`;
};

function imageAttachment(block: JsonObject, index: number): JsonObject | undefined {
  const mimeType = stringAt(block, "mimeType") ?? "image/png";
  const uri = stringAt(block, "uri");
  const filename =
    uri === undefined
      ? `image-${index + 1}.${mimeType.split("/")[1] ?? "png"}`
      : (shownUri(uri).split(/[\\/]/).at(-1) ?? "image");
  const base = { kind: "image", filename, mimeType };
  const data = stringAt(block, "data");
  if (uri?.startsWith("file://") === true && (data === undefined || data === ""))
    return { ...base, localPath: shownUri(uri) };
  if (data === undefined) return undefined;
  return { ...base, dataBase64: data, sizeBytes: Buffer.byteLength(data, "base64") };
}

function embedded(resource: JsonObject): string | undefined {
  const uri = stringAt(resource, "uri");
  const text = stringAt(resource, "text");
  if (text !== undefined) return uri === undefined ? text : `${link(undefined, uri)}\n${text}`;
  // A blob cannot be read as text; its place can at least be named, so that the prompt is never empty.
  return uri === undefined ? undefined : link(undefined, uri);
}

/** Joins the blocks of a prompt. Blocks nobody can send are left out. */
export function promptContent(blocks: readonly Json[]): PromptContent {
  const lines: string[] = [];
  const attachments: JsonObject[] = [];
  for (const block of blocks) {
    if (!isObject(block)) continue;
    const type = stringAt(block, "type");
    if (type === "text") lines.push(stringAt(block, "text") ?? "");
    else if (type === "resource_link") lines.push(link(stringAt(block, "name"), stringAt(block, "uri") ?? ""));
    else if (type === "resource") {
      const text = embedded(objectAt(block, "resource") ?? {});
      if (text !== undefined) lines.push(text);
    } else if (type === "image") {
      const image = imageAttachment(block, attachments.length);
      if (image !== undefined) attachments.push(image);
    }
  }
  return { text: lines.join("\n"), attachments };
}

/** The first line that says something, at most 80 characters: a session's title. */
export function titleOf(text: string): string | undefined {
  const line = text
    .split("\n")
    .map((part) => part.trim())
    .find((part) => part !== "");
  if (line === undefined) return undefined;
  return line.length <= 80 ? line : `${line.slice(0, 79)}…`;
}
