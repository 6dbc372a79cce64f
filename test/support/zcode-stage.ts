/**
 * A stage with ZCode on it: hub and bridge from the build, the strict fake as ZCode, and a look into what the fake got and
 * gave. `end` fails on anything the fake would not have taken.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { isObject, type Json, type JsonObject, objectAt, stringAt } from "../../src/protocol/json.ts";
import { type FakeExecutable, fakeExecutable } from "./fake-zcode/executable.ts";
import type { Scenario } from "./fake-zcode/scenario.ts";
import { Phone } from "./phone.ts";
import type { RawClient } from "./raw-client.ts";
import { Stage, until } from "./stage.ts";

/** Fits the gate: 256 bits of hex. */
export const REMOTE_TOKEN: string = "8f3c1e0b6a5d49720c9be417f2d8a6531b7e90c4d5f2386ea9017b4cd36e58f2";
const WAIT_MS = 10_000;

export interface ZcodeShared {
  readonly editor: RawClient;
  readonly child: ReturnType<Stage["home"]["bridge"]>["child"];
  readonly sessionId: string;
  /** Words the bridge wrote to stderr so far. */
  words(): string;
}

export interface BridgeOptions {
  readonly capabilities?: JsonObject;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly isAutostart?: boolean;
}

/** Waits for a fact, and says which one never came. */
export async function eventually(what: string, isTrue: () => boolean, limitMs: number = WAIT_MS): Promise<void> {
  if (!(await until(isTrue, limitMs))) throw new Error(`never happened: ${what}`);
}

export class ZcodeStage extends Stage {
  readonly fake: FakeExecutable;
  /** Where sessions live. */
  readonly project: string = join(this.home.dir, "project");
  readonly #phones: Phone[] = [];

  constructor(scenario: Scenario) {
    super();
    mkdirSync(this.project);
    this.fake = fakeExecutable(scenario, join(this.home.dir, "fake"));
  }

  /** The bridge as an editor starts it, without a word spoken yet. */
  bridge(options: BridgeOptions = {}): Omit<ZcodeShared, "sessionId"> {
    const env = {
      ZCODE_BIN: this.fake.bin,
      ZCODE_ACP_REMOTE: "1",
      ZCODE_ACP_REMOTE_TOKEN: REMOTE_TOKEN,
      ...this.fake.env,
      ...options.env,
    };
    const { editor, child } = this.home.bridge(["--cwd", this.project, ...(options.args ?? []), "zcode"], {
      env,
      isAutostart: options.isAutostart === true,
    });
    let words = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      words += chunk.toString("utf8");
    });
    return { editor, child, words: () => words };
  }

  /** An editor with a session of its own. */
  async zcode(options: BridgeOptions = {}): Promise<ZcodeShared> {
    const bridge = this.bridge(options);
    await bridge.editor.initialize(options.capabilities ?? {});
    const opened = await bridge.editor.call("session/new", { cwd: this.project, mcpServers: [] });
    return { ...bridge, sessionId: stringAt(opened, "sessionId") ?? "" };
  }

  async instanceId(): Promise<string> {
    return (await this.linked(1, WAIT_MS))[0]?.id ?? "";
  }

  /** A remote client bound to the only instance, with all extensions unless told otherwise. */
  async remote(capabilities?: JsonObject): Promise<RawClient> {
    return this.client("driver", `?instance=${await this.instanceId()}`, capabilities);
  }

  /** The predecessor's phone, on the remote token of the bridge. */
  async phone(): Promise<Phone> {
    const phone = await Phone.connect(this.acp(`?instance=${await this.instanceId()}&token=${REMOTE_TOKEN}`));
    this.#phones.push(phone);
    return phone;
  }

  /** Everything the fake received of one method. */
  calls(method: string): JsonObject[] {
    return this.received().flatMap((frame) => (frame["method"] === method ? [objectAt(frame, "params") ?? {}] : []));
  }

  received(): JsonObject[] {
    return this.fake.records().flatMap(({ in: line }) => parsed(line));
  }

  /** Error answers the fake gave. */
  refusals(): JsonObject[] {
    const frames = this.fake.records().flatMap(({ out }) => parsed(out));
    return frames.map((frame) => objectAt(frame, "error")).filter((error) => error !== undefined);
  }

  /** Every announcement of a question: its ids, oldest first. */
  announced(requestId: string): Json[] {
    return this.fake
      .records()
      .flatMap(({ out }) =>
        parsed(out).flatMap((frame) =>
          stringAt(objectAt(frame, "params"), "requestId") === requestId ? [frame["id"] ?? null] : [],
        ),
      );
  }

  /** What the fake was answered, by announcement. */
  answers(requestId: string): Json[] {
    const ids = new Set(this.announced(requestId));
    return this.received().flatMap((frame) =>
      frame["method"] === undefined && ids.has(frame["id"] ?? null) ? [frame["result"] ?? frame["error"] ?? null] : [],
    );
  }

  /** The one answer the fake got to a question; waits for it. */
  async answer(requestId: string): Promise<Json> {
    await eventually(`${requestId} is answered`, () => this.answers(requestId).length > 0);
    const [first, ...others] = this.answers(requestId);
    for (const other of others)
      if (JSON.stringify(other) !== JSON.stringify(first)) throw new Error(`${requestId} was answered in two ways`);
    return first ?? null;
  }

  override async end(): Promise<void> {
    for (const phone of this.#phones) phone.close();
    const violations = this.fake.violations();
    await super.end();
    const complaints = this.#phones.flatMap((phone) => phone.complaints);
    if (violations.length > 0) throw new Error(`the app-server refused: ${violations.join("; ")}`);
    if (complaints.length > 0) throw new Error(`the phone complained: ${complaints.join("; ")}`);
  }
}

function parsed(line: string | undefined): JsonObject[] {
  if (line === undefined) return [];
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? [value] : [];
  } catch {
    return [];
  }
}
