// What an agent at work writes, step by step: prose in small pieces, code, edits with diffs, commands with their output. Pure, so
// that the reader's side knows what was written.

const CODE = "const wait = Math.min(2 ** attempt * 250, 30_000);\n";

/** A new message every so many steps. */
const MESSAGE_STEPS = 200;

function prose(index) {
  const at = index % MESSAGE_STEPS;
  if (at === 150) return "\n\n```ts\n";
  if (at > 150 && at < 160) return CODE;
  if (at === 160) return "```\n\n";
  if (index % 40 === 0) return "\n\n";
  return index % 7 === 0 ? `**word${index}** ` : `word${index} `;
}

const textBlock = (text) => ({ type: "content", content: { type: "text", text } });

/** The steps from one tool to the next; a tool is called, runs, and is done in three of them. */
const TOOL_STEPS = 150;

function tool(number, at, run) {
  const toolCallId = `x${run}-${number}`;
  const isEdit = number % 2 === 0;
  if (at === 0) {
    const title = isEdit ? `Edit src/part-${number}.ts` : `npm test -- part-${number}`;
    return { sessionUpdate: "tool_call", toolCallId, title, kind: isEdit ? "edit" : "execute", status: "pending" };
  }
  if (at === 1) return { sessionUpdate: "tool_call_update", toolCallId, status: "in_progress" };
  const diff = { type: "diff", path: `src/part-${number}.ts`, oldText: CODE.repeat(3), newText: `${CODE.repeat(4)}\n` };
  const output = textBlock(`\u001b[32m✓\u001b[0m part ${number}\n`.repeat(20));
  return { sessionUpdate: "tool_call_update", toolCallId, status: "completed", content: [isEdit ? diff : output] };
}

/** Step `index` of prompt `run`. */
export function mixedUpdate(index, run) {
  const at = index % TOOL_STEPS;
  if (at < 3) return tool(Math.floor(index / TOOL_STEPS), at, run);
  const messageId = `x${run}-${Math.floor(index / MESSAGE_STEPS)}`;
  return { sessionUpdate: "agent_message_chunk", messageId, content: { type: "text", text: prose(index) } };
}

/** As an engine keeps it: a byte a character, two where one of them is none of Latin-1. */
const bytes = (text = "") => (/^[\0-\xff]*$/.test(text) ? text.length : text.length * 2);

/** What of an update is the agent's own words: text, titles, diffs, output. */
export function textBytesOf({ content, title }) {
  if (content?.text !== undefined) return bytes(content.text);
  const parts = (content ?? []).map((part) => bytes(part.content?.text) + bytes(part.oldText) + bytes(part.newText));
  return parts.reduce((sum, each) => sum + each, bytes(title));
}

/** Which message or tool an update is of. */
export const itemOf = ({ messageId, toolCallId }) => messageId ?? toolCallId;
