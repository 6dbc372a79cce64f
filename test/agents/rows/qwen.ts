import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { calls } from "../../support/fake-model/script.ts";
import type { AgentRow } from "./row.ts";

export const qwen: AgentRow = {
  name: "qwen",
  args: ["--acp"],
  canFork: false,
  // A record of the call to the model, with the text in it, comes well before the record of the answer.
  keeps: { folder: ".qwen/projects", as: (text) => `"parts":[{"text":"${text}"}]` },
  repliesBeforeReplay: false,
  replaysForks: false,
  otherMode: "auto-edit",
  write: (path, content) => calls("write_file", { file_path: path, content }),
  shell: (command) =>
    calls("run_shell_command", { command, is_background: false, description: "Runs what the test asked for" }),
  configure({ home, modelUrl }) {
    mkdirSync(join(home, ".qwen"), { recursive: true });
    writeFileSync(
      join(home, ".qwen", "settings.json"),
      JSON.stringify({
        security: { auth: { selectedType: "openai" } },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        general: { disableAutoUpdate: true, disableUpdateNag: true },
      }),
    );
    return { OPENAI_API_KEY: "none", OPENAI_BASE_URL: `${modelUrl}/v1`, OPENAI_MODEL: "fake-model" };
  },
};
