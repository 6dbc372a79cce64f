/** Which text of a tool call is what a terminal would have shown. Pure. */

/** The output in a text of this kind of tool, or undefined when the text is prose. */
export function outputText(text: string, kind: string | undefined): string | undefined {
  if (text.includes("\u001b[")) return unfenced(text) ?? text;
  if (kind !== "execute") return undefined;
  return unfenced(text) ?? (text.includes("```") ? undefined : text);
}

/** What stands in the one block of code that is the whole text: agents fence output, so that Markdown leaves it alone. */
function unfenced(text: string): string | undefined {
  const [head, fence] = /^\s*(`{3,})[\w-]*\r?\n/.exec(text) ?? [];
  if (head === undefined || fence === undefined) return undefined;
  const body = text.slice(head.length).trimEnd();
  if (body === fence) return "";
  const inner = body.endsWith(`\n${fence}`) ? body.slice(0, -fence.length - 1) : body;
  return inner.includes(`\n${fence}`) ? undefined : inner;
}
