/** Reads `text/event-stream` text, in pieces as it comes. Pure. */

export interface StreamEvent {
  readonly id: string | undefined;
  readonly name: string;
  readonly data: string;
}

/** The longest event taken; the hub's are small. Longer input is dropped up to the next blank line. */
const EVENT_CHARS_MAX = 1_048_576;

export class EventStreamParser {
  #rest = "";

  /** The events that `text` completes, in order. */
  feed(text: string): readonly StreamEvent[] {
    const blocks = (this.#rest + text).replace(/\r\n/g, "\n").split("\n\n");
    const rest = blocks.pop() ?? "";
    this.#rest = rest.length > EVENT_CHARS_MAX ? "" : rest;
    return blocks.map(readBlock).filter((event) => event !== undefined);
  }
}

function readBlock(block: string): StreamEvent | undefined {
  let id: string | undefined;
  let name = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon === 0 || line === "") continue;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") data.push(value);
    else if (field === "event") name = value;
    else if (field === "id") id = value;
  }
  return data.length === 0 ? undefined : { id, name, data: data.join("\n") };
}
