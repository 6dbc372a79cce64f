/** `acp-hub watch`: follows a session in the terminal; catches up by cursor when the link or the hub was away. */
import { once } from "node:events";
import type { Connection } from "../client/connection.ts";
import { ACP } from "../protocol/acp.ts";
import { HUB } from "../protocol/hub-methods.ts";
import type { Cursor } from "../protocol/ids.ts";
import { epoch } from "../protocol/ids.ts";
import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../protocol/json.ts";
import { HUB_META, readStamp } from "../protocol/meta.ts";
import { readArgs } from "./args.ts";
import type { Command } from "./command.ts";
import { EXIT, UnreachableError, UsageError } from "./exit.ts";
import { homePaths } from "./home.ts";
import { localConnection } from "./local-connection.ts";
import { printable } from "./words.ts";

const USAGE = "acp-hub watch <session> [--json] [--until-idle] [--home DIR]";

export const command: Command = {
  usage: USAGE,
  async run(argv) {
    const options = { json: { type: "boolean" }, home: { type: "string" }, "until-idle": { type: "boolean" } } as const;
    const { values, positionals } = readArgs(argv, options, USAGE, 1);
    const [session] = positionals;
    if (session === undefined) throw new UsageError(`Name the session (acp-hub ls shows them)\nUsage: ${USAGE}`);
    const paths = homePaths(values.home);
    const print = values.json === true ? printJson : new TextPrinter().print;
    const watcher = new Watcher(localConnection(paths), session, print, values["until-idle"] === true);
    return watcher.run();
  },
};

type Print = (method: string, params: JsonObject) => void;

class Watcher {
  readonly #connection: Connection;
  readonly #session: string;
  readonly #print: Print;
  readonly #untilIdle: boolean;
  #cursor: Cursor | undefined;
  #wasReady = false;

  constructor(connection: Connection, session: string, print: Print, untilIdle: boolean) {
    this.#connection = connection;
    this.#session = session;
    this.#print = print;
    this.#untilIdle = untilIdle;
  }

  async run(): Promise<number> {
    const ended = new Promise<number>((resolve, reject) => {
      this.#connection.events.subscribe((event) => {
        if (event.kind === "notification" && this.#onNotification(event.method, event.params)) resolve(EXIT.ok);
      });
      this.#connection.state.subscribe(() => {
        const state = this.#connection.state.value;
        if (state.kind === "ready") {
          this.#wasReady = true;
          this.#load().catch(reject);
        } else if (state.kind === "reconnecting" && !this.#wasReady) {
          reject(new UnreachableError("No hub is running: start one with acp-hub serve"));
        } else if (state.kind === "stopped") reject(new Error(state.message));
      });
      void once(process, "SIGINT").then(() => resolve(EXIT.ok));
    });
    this.#connection.start();
    try {
      return await ended;
    } finally {
      this.#connection.stop();
    }
  }

  async #load(): Promise<void> {
    const cursor = this.#cursor === undefined ? {} : { cursor: { ...this.#cursor } };
    const params = { sessionId: this.#session, mcpServers: [], _meta: { [HUB_META]: cursor } };
    const result = await this.#connection.call(ACP.sessionLoad, params);
    const ours = isObject(result) ? objectAt(objectAt(result, "_meta"), HUB_META) : undefined;
    const isIdle = stringAt(objectAt(ours, "turn"), "state") === "idle";
    if (this.#untilIdle && isIdle) process.emit("SIGINT");
  }

  /** True when there is nothing more to watch. */
  #onNotification(method: string, params: JsonObject): boolean {
    if (stringAt(params, "sessionId") !== this.#session) return false;
    const stamp = readStamp(params);
    if (stamp !== undefined) this.#cursor = { epoch: epoch(stamp.epoch), seq: stamp.seq };
    this.#print(method, params);
    if (method === HUB.detached) return true;
    const isOver = method === HUB.turn && params["state"] === "idle" && stamp?.replay !== true;
    return this.#untilIdle && isOver;
  }
}

const printJson: Print = (method, params) => void process.stdout.write(`${JSON.stringify({ method, params })}\n`);

/** Streams text as it comes; everything else is a line of its own. */
class TextPrinter {
  #isInText = "";

  readonly print: Print = (method, params) => {
    if (method === ACP.sessionUpdate) this.#update(objectAt(params, "update") ?? {});
    else if (method === HUB.interactionSettled) this.#line(`· ${settledWords(params)}`);
    else if (method === HUB.turn && params["stopReason"] !== undefined) this.#line(`— ${String(params["stopReason"])}`);
    else if (method === HUB.turn && params["state"] === "waiting")
      this.#line("? waiting for an answer: acp-hub interactions");
    else if (method === HUB.gap || method === HUB.reset) this.#line("… some updates were joined or are missing here");
  };

  #update(update: JsonObject): void {
    const kind = stringAt(update, "sessionUpdate") ?? "";
    const text = stringAt(objectAt(update, "content"), "text");
    if (kind.endsWith("_chunk") && text !== undefined) return this.#text(kind, text);
    if (kind === "tool_call")
      return this.#line(`⚙ ${stringAt(update, "title") ?? ""} (${stringAt(update, "status") ?? "pending"})`);
    if (kind === "tool_call_update" && update["status"] !== undefined) {
      return this.#line(
        `⚙ ${stringAt(update, "title") ?? stringAt(update, "toolCallId") ?? ""} → ${String(update["status"])}`,
      );
    }
    if (kind !== "plan") return undefined;
    const entries = (arrayAt(update, "entries") ?? []).filter(isObject);
    return this.#line(
      entries
        .map((entry) => `[${entry["status"] === "completed" ? "x" : " "}] ${stringAt(entry, "content") ?? ""}`)
        .join("\n"),
    );
  }

  #text(kind: string, text: string): void {
    if (this.#isInText !== kind) this.#line(kind === "user_message_chunk" ? "> " : "", false);
    this.#isInText = kind;
    process.stdout.write(printable(text));
  }

  #line(text: string, isWhole = true): void {
    if (this.#isInText !== "") process.stdout.write("\n");
    this.#isInText = "";
    process.stdout.write(isWhole ? `${printable(text)}\n` : text);
  }
}

function settledWords(params: JsonObject): string {
  const outcome = objectAt(params, "outcome");
  const what =
    stringAt(outcome, "optionName") ?? stringAt(outcome, "elicitation") ?? stringAt(outcome, "action") ?? "settled";
  return `${what}, by ${stringAt(objectAt(params, "by"), "name") ?? "someone"}`;
}
