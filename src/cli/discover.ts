/** `acp-hub discover`: hubs on the LAN, and how to reach the one that is picked. */
import { createInterface } from "node:readline/promises";
import type { BrowseResult, FoundHub } from "../hub/discovery.ts";
import { readArgs, readNumber } from "./args.ts";
import type { Command } from "./command.ts";
import { EXIT } from "./exit.ts";

const USAGE = "acp-hub discover [--json] [--seconds N] [NUMBER]";
const OPTIONS = { json: { type: "boolean" }, seconds: { type: "string" } } as const;

export const command: Command = {
  usage: USAGE,
  async run(argv) {
    const { values, positionals } = readArgs(argv, OPTIONS, USAGE, 1);
    const seconds = readNumber("--seconds", values.seconds, 1, 60) ?? 3;
    const number = readNumber("NUMBER", positionals[0], 1, 999);
    const { findHubs } = await import("../hub/discovery.ts");
    const result = await findHubs(seconds * 1000);
    process.stderr.write(wordsOn(result));
    if (values.json === true) {
      process.stdout.write(`${JSON.stringify(result.hubs, null, 2)}\n`);
      return exitOf(result);
    }
    const { hubs } = result;
    if (number === undefined) process.stdout.write(listOf(hubs));
    const picked = number ?? (await ask(hubs.length));
    if (picked === undefined) return exitOf(result);
    const hub = hubs[picked - 1];
    if (hub === undefined) {
      // The words are right, the network is not as it was: the numbers are those of one look around.
      if (hubs.length > 0) process.stderr.write(`There is no hub number ${picked} now:\n${listOf(hubs)}`);
      return EXIT.failed;
    }
    process.stdout.write(hintOf(hub));
    return EXIT.ok;
  },
};

/** Nothing could be asked: that is a failure, unlike nobody answering. */
export const exitOf = ({ hubs, failures, hasNetwork }: BrowseResult): number =>
  hubs.length > 0 || (hasNetwork && failures.length === 0) ? EXIT.ok : EXIT.failed;

export function wordsOn({ hubs, failures, hasNetwork }: BrowseResult): string {
  const lines = failures.map((each) => `${each.interface} (${each.address}) could not be asked: ${each.code}`);
  if (!hasNetwork) lines.push("This computer is on no network: there is nobody to ask");
  else if (hubs.length === 0) {
    lines.push(
      "No hub answered. A hub shows itself only when it is bound beyond loopback (acp-hub serve --host 0.0.0.0).",
    );
  }
  return lines.map((line) => `${line}\n`).join("");
}

export function listOf(hubs: readonly FoundHub[]): string {
  const width = Math.max(0, ...hubs.map((hub) => hub.name.length));
  return hubs
    .map((hub, index) => {
      const note = hub.isAuthRequired ? "" : "  says it wants no credential: do not trust it";
      return `${String(index + 1).padStart(2)}  ${hub.name.padEnd(width)}  ${hub.urls[0]}  ${hub.version}${note}\n`;
    })
    .join("");
}

/** What to do with it. The key's fingerprint is for comparing with what that machine shows: names can be claimed by anyone. */
export function hintOf(hub: FoundHub): string {
  const url = hub.urls[0] ?? "";
  return `${hub.name}: ${hub.urls.join("  ")}
  key       ${hub.fingerprint === "" ? "(none given)" : hub.fingerprint}
  pair      on that computer run: acp-hub pair --url ${url}
            then open the link it prints here, or scan its QR code
  attach    in an editor here: acp-hub attach --url ${url} --token-file FILE
            with a token made there: acp-hub token create --scope driver --name this-editor > FILE
${hub.isTls ? "" : "  warning   plain HTTP: others on this network can read along; prefer a tunnel or TLS\n"}`;
}

async function ask(count: number): Promise<number | undefined> {
  if (count === 0 || !process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = (await prompt.question(`Which one (1-${count}, Enter for none)? `)).trim();
    return answer === "" ? undefined : readNumber("the number", answer, 1, count);
  } finally {
    prompt.close();
  }
}
