/** `acp-hub attach`: an agent command for a second editor. What it runs is a session another editor has open. */
import { randomUUID } from "node:crypto";
import { stdioTransport } from "../bridge/stdio.ts";
import { systemClock } from "../client/ports.ts";
import { readArgs } from "./args.ts";
import { type AttachEnd, AttachedAgent } from "./attach/attached-agent.ts";
import { findTarget } from "./attach/target.ts";
import type { Command } from "./command.ts";
import { EXIT, UsageError } from "./exit.ts";
import { homePaths } from "./home.ts";

const USAGE = "acp-hub attach [--instance I] [--session S] [--url U] [--token-file F] [--home DIR]";
const OPTIONS = {
  instance: { type: "string" },
  session: { type: "string" },
  url: { type: "string" },
  "token-file": { type: "string" },
  home: { type: "string" },
} as const;

export const command: Command = {
  usage: USAGE,
  async run(argv) {
    const { values } = readArgs(argv, OPTIONS, USAGE, 0);
    const { instance, session, url, home } = values;
    const { apiSocket } = homePaths(home);
    const tokenFile = values["token-file"];
    const token = process.env["ACP_HUB_TOKEN"];
    const target = await findTarget({ instance, session, url, tokenFile, token, apiSocket });
    for (const warning of target.warnings) process.stderr.write(`acp-hub attach: ${warning}\n`);
    if (process.stdin.isTTY)
      throw new UsageError(
        "attach speaks ACP on pipes: make it the agent command of your editor, or use acp-hub watch",
      );
    const agent = new AttachedAgent(stdioTransport(), target, {
      clock: systemClock,
      pinnedSession: session,
      newId: randomUUID,
    });
    const end = await agent.run();
    if (end.kind !== "editor-gone") process.stderr.write(`acp-hub attach: ${wordsOf(end)}\n`);
    return EXIT_OF[end.kind];
  },
};

const EXIT_OF: Readonly<Record<AttachEnd["kind"], number>> = {
  "editor-gone": EXIT.ok,
  unreachable: EXIT.unreachable,
  refused: EXIT.failed,
  ended: EXIT.failed,
};

function wordsOf(end: AttachEnd): string {
  if (end.kind === "unreachable") return `no hub answers (${end.words}): start one with acp-hub serve`;
  return end.kind === "refused" ? `the hub refused: ${end.words}` : end.words;
}
