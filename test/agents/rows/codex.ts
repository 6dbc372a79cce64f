import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { calls } from "../../support/fake-model/script.ts";
import type { AgentRow } from "./row.ts";

/** Beyond its sandbox, so that it has to ask. */
const ESCALATED = { sandbox_permissions: "require_escalated", justification: "the test says so" };

export const codex: AgentRow = {
  name: "codex",
  args: [],
  canFork: true,
  keeps: { folder: ".codex/sessions", as: (text) => text },
  repliesBeforeReplay: false,
  replaysForks: false,
  askMode: "read-only",
  otherMode: "read-only",
  // It has no tool that writes files for this model: it is the shell's work.
  write: (path, content) => calls("exec_command", { cmd: `printf '%s' "${content}" > ${path}`, ...ESCALATED }),
  shell: (command) =>
    calls("exec_command", {
      cmd: command,
      sandbox_permissions: "require_escalated",
      justification: "the test says so",
    }),
  configure({ home, modelUrl }) {
    const dir = join(home, ".codex");
    mkdirSync(dir, { recursive: true });
    writeFileSync(
      join(dir, "config.toml"),
      [
        'model = "fake-model"',
        'model_provider = "fake"',
        'approval_policy = "on-request"',
        'sandbox_mode = "read-only"',
        "check_for_update_on_startup = false",
        "[analytics]",
        "enabled = false",
        "[model_providers.fake]",
        'name = "Fake"',
        `base_url = "${modelUrl}/v1"`,
        'wire_api = "responses"',
        'env_key = "FAKE_KEY"',
        "",
      ].join("\n"),
    );
    return { CODEX_HOME: dir, FAKE_KEY: "none" };
  },
};
