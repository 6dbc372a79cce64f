import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { calls } from "../../support/fake-model/script.ts";
import type { AgentRow } from "./row.ts";

export const qwen: AgentRow = {
  name: "qwen",
  args: ["--acp"],
  canFork: false,
  replaysForks: false,
  modes: ["default", "auto-edit"],
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
