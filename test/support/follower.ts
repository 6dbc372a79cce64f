/**
 * A remote client that comes back: it follows a session by cursor over every loss, prompts with a promptId until it has the answer,
 * and keeps a transcript of what it was given. For tests that break things.
 */
import type { Frame } from "../../src/protocol/envelope.ts";
import { paramsOf } from "../../src/protocol/envelope.ts";
import { type JsonObject, objectAt, stringAt } from "../../src/protocol/json.ts";
import { readStamp } from "../../src/protocol/meta.ts";
import { connectClient, type RawClient, RpcFailed } from "./raw-client.ts";
import { loadOf, textPrompt } from "./stage.ts";

/** What was said, as one text per run of chunks of a kind; and the last state of each tool card. */
export class Transcript {
  readonly runs: { kind: string; text: string }[] = [];
  readonly cards: Map<string, string> = new Map();

  add(update: JsonObject): void {
    const kind = stringAt(update, "sessionUpdate") ?? "";
    if (kind.startsWith("tool_call")) {
      this.cards.set(stringAt(update, "toolCallId") ?? "", stringAt(update, "status") ?? "pending");
      return;
    }
    const text = stringAt(objectAt(update, "content"), "text");
    if (text === undefined) return;
    const last = this.runs.at(-1);
    if (last?.kind === kind) last.text += text;
    else this.runs.push({ kind, text });
  }

  get text(): string {
    return this.runs.map(({ kind, text }) => `${kind}: ${text}`).join("\n");
  }
}

export interface FollowerOptions {
  /** Dialled anew each time: the hub may have moved. */
  readonly url: () => string;
  readonly token: string;
  readonly sessionId: string;
  readonly capabilities?: JsonObject;
  /** What it does with a question; undefined: nothing. */
  readonly onAsk?: (answer: (optionId: string) => void) => void;
  /** It prompts: its own words come back to it only in a load (B3), so they are left out of its transcript. */
  readonly isAuthor?: boolean;
}

export class Follower {
  transcript: Transcript = new Transcript();
  /** Loads that could not be continued from the cursor. */
  restarts = 0;
  reconnects = -1;
  /** Close codes met. */
  readonly codes: (number | undefined)[] = [];
  readonly #options: FollowerOptions;
  #client: RawClient | undefined;
  #cursor: { epoch: string; seq: number } | undefined;
  #isStopped = false;
  #isReady = false;
  /** Updates of a load that is under way: what they are is known with its response. */
  #held: JsonObject[] | undefined;
  #running: Promise<void> | undefined;

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  get cursor(): { epoch: string; seq: number } | undefined {
    return this.#cursor;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#client?.close();
    await this.#running;
  }

  /** Its network is gone for a moment. */
  drop(): void {
    this.#client?.close();
  }

  /** Prompts, over every loss, until there is an answer. */
  async prompt(text: string, promptId: string): Promise<JsonObject> {
    for (;;) {
      const client = await this.#ready();
      try {
        const params = { ...textPrompt(this.#options.sessionId, text), _meta: { "acp-hub": { promptId } } };
        return await client.call("session/prompt", params);
      } catch (error) {
        if (error instanceof RpcFailed && !isPassing(error)) throw error;
        await pause(50);
      }
    }
  }

  async #ready(): Promise<RawClient> {
    while (!this.#isReady || this.#client === undefined) {
      if (this.#isStopped) throw new Error("stopped");
      await pause(10);
    }
    return this.#client;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      try {
        await this.#follow();
      } catch {
        // The hub is not there, or went away: dial again.
      }
      this.#isReady = false;
      if (!this.#isStopped) await pause(50);
    }
  }

  async #follow(): Promise<void> {
    const closed = deferred();
    const client = await connectClient(this.#options.url(), this.#options.token, {
      onFrame: (frame) => this.#onFrame(frame),
    });
    this.#client = client;
    this.reconnects += 1;
    client.onClose = () => closed.resolve();
    await client.initialize(this.#options.capabilities);
    await this.#load(client);
    this.#isReady = true;
    await closed.promise;
    this.codes.push(client.closed?.code);
  }

  async #load(client: RawClient): Promise<void> {
    this.#held = [];
    const cursor = this.#cursor === undefined ? {} : { cursor: this.#cursor };
    const result = await client.call("session/load", loadOf(this.#options.sessionId, cursor));
    const held = this.#held ?? [];
    this.#held = undefined;
    const verdict = stringAt(objectAt(objectAt(result, "_meta"), "acp-hub"), "verdict");
    if (verdict !== "ok") {
      this.restarts += 1;
      this.transcript = new Transcript();
    }
    for (const params of held) this.#take(params);
  }

  #onFrame(frame: Frame): void {
    if (frame.kind === "request") {
      const { id } = frame.msg;
      const client = this.#client;
      this.#options.onAsk?.((optionId) => client?.answer(id, { outcome: { outcome: "selected", optionId } }));
    }
    if (frame.kind !== "notification") return;
    if (frame.msg.method === "_acp-hub/reset") {
      this.#cursor = undefined;
      this.#client?.close();
      return;
    }
    const params = paramsOf(frame.msg) ?? {};
    if (this.#held !== undefined && frame.msg.method === "session/update") this.#held.push(params);
    else this.#take(params, frame.msg.method);
  }

  #take(params: JsonObject, method = "session/update"): void {
    const stamp = readStamp(params);
    const update = objectAt(params, "update") ?? {};
    const isOwn = this.#options.isAuthor === true && update["sessionUpdate"] === "user_message_chunk";
    if (method === "session/update" && !isOwn) this.transcript.add(update);
    if (stamp === undefined || this.#held !== undefined) return;
    this.#cursor = { epoch: stamp.epoch, seq: stamp.seq };
  }
}

/** The link, not the prompt, failed: the same promptId is sent again. */
const isPassing = (error: RpcFailed): boolean => {
  const code = (error.data as JsonObject | undefined)?.["code"];
  return code === "link-lost" || code === "instance-gone";
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
