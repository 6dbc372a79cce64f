import { mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { calls } from "../../support/fake-model/script.ts";
import type { AgentRow } from "./row.ts";

export const gemini: AgentRow = {
  name: "gemini",
  args: ["--acp"],
  canFork: false,
  keeps: { folder: ".gemini/tmp", as: (text) => text },
  repliesBeforeReplay: true,
  replaysForks: false,
  otherMode: "autoEdit",
  write: (path, content) => calls("write_file", { file_path: path, content }),
  shell: (command) => calls("run_shell_command", { command, description: "Runs what the test asked for" }),
  // A chat's file is named by the minute: loaded within it, the new run empties the file it is about to read.
  age({ home }) {
    const chats = join(home, ".gemini", "tmp", "work", "chats");
    for (const name of readdirSync(chats))
      renameSync(join(chats, name), join(chats, name.replace(/^session-\d+/, "session-2000")));
  },
  configure({ home, modelUrl }) {
    mkdirSync(join(home, ".gemini"), { recursive: true });
    writeFileSync(
      join(home, ".gemini", "settings.json"),
      JSON.stringify({
        security: { auth: { selectedType: "gemini-api-key" } },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        general: { disableAutoUpdate: true, disableUpdateNag: true },
      }),
    );
    return {
      GEMINI_API_KEY: "none",
      GOOGLE_GEMINI_BASE_URL: modelUrl,
      // A named model: for "auto" it first asks another model how hard the prompt is, and retries until that answers in JSON.
      GEMINI_MODEL: "gemini-2.5-pro",
      // In a folder it does not trust, modes that approve by themselves are refused.
      GEMINI_CLI_TRUST_WORKSPACE: "true",
    };
  },
};
