import { join } from "node:path";
import { calls } from "../../support/fake-model/script.ts";
import type { AgentRow } from "./row.ts";

export const claude: AgentRow = {
  name: "claude",
  args: [],
  canFork: true,
  keeps: { folder: ".claude/projects", as: (text) => text },
  repliesBeforeReplay: false,
  replaysForks: false,
  askMode: "default",
  otherMode: "acceptEdits",
  write: (path, content) => calls("Write", { file_path: path, content }),
  shell: (command) => calls("Bash", { command, description: "Runs what the test asked for" }),
  form: (question, choices) => {
    const options = choices.map((label) => ({ label, description: label }));
    return calls("AskUserQuestion", { questions: [{ question, header: "Choice", multiSelect: false, options }] });
  },
  configure: ({ home, modelUrl }) => ({
    ANTHROPIC_BASE_URL: modelUrl,
    ANTHROPIC_API_KEY: "none",
    CLAUDE_CONFIG_DIR: join(home, ".claude"),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    // The agent refuses to work as root outside of what it takes for a sandbox.
    IS_SANDBOX: "1",
  }),
};
