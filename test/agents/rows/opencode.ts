import { calls } from "../../support/fake-model/script.ts";
import type { AgentRow } from "./row.ts";

export const opencode: AgentRow = {
  name: "opencode",
  args: ["acp"],
  canFork: true,
  keeps: { folder: ".local/share/opencode", as: (text) => text },
  repliesBeforeReplay: false,
  replaysForks: true,
  otherMode: "plan",
  write: (path, content) => calls("write", { filePath: path, content }),
  shell: (command) => calls("bash", { command, description: "Runs what the test asked for" }),
  configure: ({ modelUrl }) => ({
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_CONFIG_CONTENT: JSON.stringify({
      autoupdate: false,
      share: "disabled",
      model: "fake/fake-model",
      permission: { bash: "ask", edit: "ask" },
      provider: {
        fake: {
          npm: "@ai-sdk/openai-compatible",
          name: "Fake",
          options: { baseURL: `${modelUrl}/v1`, apiKey: "none" },
          models: { "fake-model": { name: "Fake" } },
        },
      },
    }),
  }),
};
