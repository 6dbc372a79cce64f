/** The agents that run here, as rows of every test. */
import { inject } from "vitest";
import type { Installed } from "../global-setup.ts";
import { claude } from "../rows/claude.ts";
import { codex } from "../rows/codex.ts";
import { gemini } from "../rows/gemini.ts";
import { opencode } from "../rows/opencode.ts";
import { qwen } from "../rows/qwen.ts";
import type { AgentRow } from "../rows/row.ts";

export interface Agent {
  readonly name: string;
  readonly row: AgentRow;
  readonly installed: Installed;
}

const ROWS: readonly AgentRow[] = [opencode, gemini, qwen, claude, codex];

export const AGENTS: readonly Agent[] = inject("installed").flatMap((installed) => {
  const row = ROWS.find((each) => each.name === installed.name);
  return row === undefined ? [] : [{ name: installed.name, row, installed }];
});
