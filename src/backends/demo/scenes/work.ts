/** Scenes of tools: a plan, an edit that needs permission, a command with coloured output. */
import type { PermissionOption, PlanEntry } from "@agentclientprotocol/sdk";
import { type Turn, textContent } from "../turn.ts";
import type { Scene } from "./scene.ts";

const STEPS = ["Read the failing test", "Find the cause", "Mend it", "Run the tests again"];

const stepsAt = (done: number): PlanEntry[] =>
  STEPS.map((content, index) => ({
    content,
    priority: index === 2 ? "high" : "medium",
    status: index < done ? "completed" : index === done ? "in_progress" : "pending",
  }));

export const plan: Scene = {
  name: "plan",
  words: ["plan"],
  help: "A plan whose steps advance",
  async play(turn) {
    await turn.think("Four steps should be enough.");
    for (let done = 0; done <= STEPS.length; done += 1) {
      await turn.plan(stepsAt(done));
      await turn.pause(700);
    }
    await turn.say("All four steps are done.");
  },
};

export const PERMISSION: readonly PermissionOption[] = [
  { optionId: "allow-once", name: "Allow once", kind: "allow_once" },
  { optionId: "allow-always", name: "Always allow edits in this session", kind: "allow_always" },
  { optionId: "reject", name: "Reject", kind: "reject_once" },
];

const BEFORE = `export function greet(name) {
  return "Hello " + name;
}
`;
const AFTER = `export function greet(name = "world") {
  return \`Hello, \${name}!\`;
}
`;

export const diff: Scene = {
  name: "diff",
  words: ["diff", "edit"],
  help: "Reads a file and asks to change it (asks nothing in mode Auto, changes nothing in mode Plan)",
  async play(turn) {
    const path = `${turn.session.cwd}/src/greet.js`;
    await read(turn, path);
    if (turn.session.mode === "plan") return turn.say("In mode Plan I only say it: `greet` should get a default name.");
    const toolCallId = await turn.tool({
      title: "Edit src/greet.js",
      kind: "edit",
      locations: [{ path, line: 1 }],
      content: [{ type: "diff", path, oldText: BEFORE, newText: AFTER }],
      rawInput: { path, oldText: BEFORE, newText: AFTER },
    });
    const isAllowed = await mayEdit(turn, toolCallId);
    await turn.toolUpdate(toolCallId, { status: isAllowed ? "in_progress" : "failed" });
    if (!isAllowed) return turn.say("Then I leave `src/greet.js` as it is.");
    await turn.pause(400);
    await turn.toolUpdate(toolCallId, { status: "completed", rawOutput: { changedLines: 2 } });
    await turn.say("`greet` has a default name now. (Not really: the demo touches no file.)");
  },
};

async function read(turn: Turn, path: string): Promise<void> {
  const toolCallId = await turn.tool({ title: "Read src/greet.js", kind: "read", locations: [{ path }] });
  await turn.toolUpdate(toolCallId, { status: "in_progress" });
  await turn.pause(500);
  await turn.toolUpdate(toolCallId, { status: "completed", content: [textContent(BEFORE)] });
}

/** Asks unless the mode or an earlier answer has decided. */
async function mayEdit(turn: Turn, toolCallId: string): Promise<boolean> {
  if (turn.session.mode === "auto" || turn.session.editsAllowed) return true;
  const choice = await turn.ask({ toolCallId, title: "Edit src/greet.js", kind: "edit" }, PERMISSION);
  if (choice === "allow-always") turn.session.editsAllowed = true;
  return choice === "allow-once" || choice === "allow-always";
}

const OUTPUT = [
  "\u001b[1m> npm test\u001b[0m\n",
  "\u001b[32m✓\u001b[0m greets a name \u001b[2m(2 ms)\u001b[0m\n",
  "\u001b[32m✓\u001b[0m greets the world \u001b[2m(1 ms)\u001b[0m\n",
  "\u001b[31m✗\u001b[0m greets nobody \u001b[2m(4 ms)\u001b[0m\n",
  "  \u001b[31mexpected 'Hello, null!' to be 'Hello!'\u001b[0m\n",
  "\n\u001b[42;30m 2 passed \u001b[0m \u001b[41;37m 1 failed \u001b[0m\n",
];

export const terminal: Scene = {
  name: "terminal",
  words: ["terminal", "shell", "test"],
  help: "Runs a command with coloured output that grows",
  async play(turn) {
    const toolCallId = await turn.tool({
      title: "npm test",
      kind: "execute",
      rawInput: { command: "npm test", cwd: turn.session.cwd },
    });
    await turn.toolUpdate(toolCallId, { status: "in_progress" });
    let shown = "";
    for (const line of OUTPUT) {
      await turn.pause(350);
      shown += line;
      await turn.toolUpdate(toolCallId, { content: [textContent(shown)] });
    }
    await turn.toolUpdate(toolCallId, { status: "completed", rawOutput: { exitCode: 1 } });
    await turn.say("Two tests pass and one fails: `greets nobody`.");
  },
};
