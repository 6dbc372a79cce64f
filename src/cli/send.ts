/**
 * `acp-hub send`: prompts a session and waits for the end of its turn. The prompt has an id, so that a link that drops meanwhile
 * costs nothing: it is sent again and joins the first (P3).
 */
import type { Connection } from "../client/connection.ts";
import { CallError, isLinkFailure } from "../client/errors.ts";
import { ACP } from "../protocol/acp.ts";
import type { HubErrorCode } from "../protocol/errors.ts";
import { HUB } from "../protocol/hub-methods.ts";
import { arrayAt, isObject, type JsonObject, stringAt } from "../protocol/json.ts";
import { HUB_META } from "../protocol/meta.ts";
import { ANY_WORDS, readArgs } from "./args.ts";
import type { Command } from "./command.ts";
import { EXIT, UnreachableError, UsageError } from "./exit.ts";
import { homePaths } from "./home.ts";
import { localConnection, newId } from "./local-connection.ts";

const USAGE = "acp-hub send <session> <text…|-> [--no-wait] [--instance I] [--json] [--home DIR]";
const OPTIONS = {
  "no-wait": { type: "boolean" },
  instance: { type: "string" },
  json: { type: "boolean" },
  home: { type: "string" },
} as const;
const STDIN_MAX_BYTES = 8_388_608;
const LINK_LOST: HubErrorCode = "link-lost";
/** What a hub that has just started answers before the bridges are back. */
const AWAY: ReadonlySet<string> = new Set<HubErrorCode>(["instance-required", "unknown-session"]);
const BACK_MS = 10_000;
const RETRY_MS = 300;

export const command: Command = {
  usage: USAGE,
  async run(argv) {
    const { values, positionals } = readArgs(argv, OPTIONS, USAGE, ANY_WORDS);
    const [session, ...words] = positionals;
    if (session === undefined) throw new UsageError(`Name the session (acp-hub ls shows them)\nUsage: ${USAGE}`);
    const text = words.length === 1 && words[0] === "-" ? await readStdin() : words.join(" ");
    if (text.trim() === "") throw new UsageError(`Say what to send, or - to read it from stdin\nUsage: ${USAGE}`);
    const paths = homePaths(values.home);
    const prompt = makePrompt(session, text, values.instance);
    const sender = new Sender(localConnection(paths), prompt, values["no-wait"] === true);
    const outcome = await sender.run();
    if (values.json === true)
      process.stdout.write(`${JSON.stringify({ sessionId: session, promptId: prompt.promptId, ...outcome })}\n`);
    else process.stdout.write(`${outcome.stopReason ?? outcome.state}\n`);
    return outcome.stopReason === "refusal" ? EXIT.failed : EXIT.ok;
  },
};

interface Prompt {
  readonly promptId: string;
  readonly params: JsonObject;
}

interface Outcome {
  /** `accepted`: it runs or waits in line (`--no-wait`). */
  readonly state: "accepted" | "ended";
  readonly stopReason?: string;
}

function makePrompt(sessionId: string, text: string, instance: string | undefined): Prompt {
  const promptId = newId();
  const ours: JsonObject = { promptId, ...(instance !== undefined && { instance }) };
  return { promptId, params: { sessionId, prompt: [{ type: "text", text }], _meta: { [HUB_META]: ours } } };
}

class Sender {
  readonly #connection: Connection;
  readonly #prompt: Prompt;
  readonly #isAccepting: boolean;
  #wasReady = false;
  /** This socket is not the first: the hub may have been restarted. */
  #isBack = false;
  #awaySince: number | undefined;

  constructor(connection: Connection, prompt: Prompt, isAccepting: boolean) {
    this.#connection = connection;
    this.#prompt = prompt;
    this.#isAccepting = isAccepting;
  }

  async run(): Promise<Outcome> {
    const ended = new Promise<Outcome>((resolve, reject) => {
      this.#connection.events.subscribe((event) => {
        if (event.kind !== "notification" || event.method !== HUB.turn || !this.#isAccepting) return;
        if (this.#isNamedIn(event.params)) resolve({ state: "accepted" });
      });
      this.#connection.state.subscribe(() => this.#onState(resolve, reject));
    });
    this.#connection.start();
    try {
      return await ended;
    } finally {
      this.#connection.stop();
    }
  }

  #onState(resolve: (outcome: Outcome) => void, reject: (error: unknown) => void): void {
    const state = this.#connection.state.value;
    if (state.kind === "stopped") reject(new Error(state.message));
    else if (state.kind === "reconnecting" && !this.#wasReady)
      reject(new UnreachableError("No hub is running: start one with acp-hub serve"));
    else if (state.kind === "ready") {
      this.#isBack = this.#wasReady;
      this.#wasReady = true;
      this.#awaySince = undefined;
      this.#send(resolve, reject);
    }
  }

  #send(resolve: (outcome: Outcome) => void, reject: (error: unknown) => void): void {
    this.#connection.call(ACP.sessionPrompt, this.#prompt.params).then(
      (result) => resolve({ state: "ended", stopReason: (isObject(result) && stringAt(result, "stopReason")) || "" }),
      (error: unknown) => {
        // The next socket sends it again.
        if (isLinkFailure(error)) return;
        if (this.#isWorthWaiting(error)) setTimeout(() => this.#send(resolve, reject), RETRY_MS);
        else reject(error);
      },
    );
  }

  /** A bridge that lost its link, or has not found a hub that just started, comes back within seconds. */
  #isWorthWaiting(error: unknown): boolean {
    const code = error instanceof CallError ? (error.hubCode ?? "") : "";
    if (code !== LINK_LOST && !(this.#isBack && AWAY.has(code))) return false;
    this.#awaySince ??= Date.now();
    return Date.now() - this.#awaySince < BACK_MS;
  }

  #isNamedIn(notice: JsonObject): boolean {
    if (notice["promptId"] === this.#prompt.promptId) return true;
    return (arrayAt(notice, "queue") ?? []).some(
      (entry) => isObject(entry) && entry["promptId"] === this.#prompt.promptId,
    );
  }
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > STDIN_MAX_BYTES) throw new UsageError("This is too much text for one prompt");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
