/** Brings a session to life in the backend, keeps it there, and heals what eviction and death take away. */
import type { Json, JsonObject } from "../../../protocol/json.ts";
import { arrayAt, isObject, objectAt, stringAt } from "../../../protocol/json.ts";
import { pause } from "../clock.ts";
import { type Host, reportBackendTasks, reportBackendTurn } from "../host.ts";
import { type LiveBackend, OLDEST_VERSION } from "../process/supervisor.ts";
import type { CallOptions } from "../rpc/connection.ts";
import { isKind, needsReasoningLevel, ZcodeError } from "../rpc/errors.ts";
import { DELIVERY } from "../rpc/methods.ts";
import {
  entryOf,
  equalSettings,
  levelFor,
  modelSelection,
  parseModelValue,
  sameModel,
  settingsUpdates,
  withSnapshot,
} from "../translate/config-options.ts";
import { mcpOf } from "./mcp-servers.ts";
import type { Session } from "./session.ts";
import type { LazyRecord } from "./session-map.ts";

const FALLBACK_LEVEL = "high";
const UNKNOWN_KEY = /Unrecognized key\(?s?\)?\s*(?:in object)?:?\s*["'`]([\w]+)["'`]/i;
const DROPPED_KEYS_MAX = 3;

const workspaceOf = (cwd: string): JsonObject => ({ workspacePath: cwd, workspaceKey: cwd });

export class Lifecycle {
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  /** Makes sure the session exists, is resident and subscribed in the running backend. Calls share one attempt. */
  async ensureLive(session: Session): Promise<LiveBackend> {
    const live = await this.#host.supervisor.ready();
    if (session.generation !== live.generation) {
      session.reviving ??= this.#revive(session, live).finally(() => {
        session.reviving = undefined;
      });
      await session.reviving;
    }
    return live;
  }

  /** One call about a session. An evicted one is resumed and asked once more, unless a turn of it runs. */
  async call(session: Session, method: string, params: JsonObject = {}, options?: CallOptions): Promise<JsonObject> {
    const live = await this.ensureLive(session);
    const send = (backend: LiveBackend): Promise<JsonObject> =>
      backend.connection.call(method, { sessionId: session.zcodeSid ?? "", ...params }, options);
    try {
      return await send(live);
    } catch (error) {
      if (isKind(error, "not-found")) throw this.#gone(session, error);
      if (!isKind(error, "not-active") || session.turns.active !== undefined) throw error;
      this.#host.log("info", "session was evicted, resuming", { method });
      if (session.generation === live.generation) session.generation = undefined;
      return send(await this.ensureLive(session));
    }
  }

  /** Gets rid of a turn that does not let go: closes the runtime and starts it again from the store. */
  async restart(session: Session): Promise<void> {
    const live = await this.#host.supervisor.ready();
    await live.connection.call("session/close", { sessionId: session.zcodeSid ?? "" }).catch(() => {});
    session.generation = undefined;
    session.turns.clear();
    await this.ensureLive(session);
  }

  /** Asks again for events, from the last one seen: fills a gap after a silence. */
  async refill(session: Session): Promise<void> {
    const live = this.#host.supervisor.current;
    const afterSeq = session.seqs.highest;
    if (live === undefined || live.generation !== session.generation || afterSeq === undefined) return;
    await this.#subscribe(session, live, afterSeq, 10_000);
  }

  /** Takes in what a snapshot says about settings, and tells the client what changed. */
  takeSettings(session: Session, snapshot: JsonObject, isWhole = false): void {
    const before = session.settings;
    const after = withSnapshot(before, snapshot, isWhole);
    session.settings = after;
    const commands = arrayAt(snapshot, "slashCommands");
    if (commands !== undefined) session.slashCommands = commands.flatMap(readCommand);
    if (!equalSettings(before, after)) session.emit(settingsUpdates(before, after));
  }

  async #revive(session: Session, live: LiveBackend): Promise<void> {
    const isNew = session.zcodeSid === undefined;
    if (isNew) await this.#create(session, live);
    else await this.#resume(session, live);
    await this.#subscribe(session, live, undefined);
    session.generation = live.generation;
    if (!isNew) await this.#reassertChoice(session, live);
    this.#host.announceCommands(session);
  }

  async #create(session: Session, live: LiveBackend): Promise<void> {
    const { config, store, sessions } = this.#host;
    const wantedModel = session.choice.model ?? config.model;
    const ref = wantedModel === undefined ? undefined : parseModelValue(wantedModel, session.settings.models);
    const wanted = session.choice.thought ?? config.thought;
    const level = ref === undefined ? wanted : levelFor(entryOf(session.settings.models, ref), wanted);
    const params = (reasoning: string | undefined): JsonObject => ({
      workspace: workspaceOf(session.cwd),
      mode: session.settings.mode,
      ...(ref === undefined ? {} : { model: modelSelection(ref, reasoning) }),
      ...(reasoning === undefined ? {} : { thoughtLevel: reasoning }),
      ...mcpOf(session),
    });
    const { result, dropped } = await this.#lenient(live, "session/create", params(level)).catch((error: unknown) => {
      if (level !== undefined || !needsReasoningLevel(error)) throw error;
      return this.#lenient(live, "session/create", params(FALLBACK_LEVEL));
    });
    const zcodeSid = stringAt(objectAt(result, "session"), "sessionId");
    if (zcodeSid === undefined) throw new ZcodeError("other", "ZCode created a session without an id");
    sessions.bind(session, zcodeSid);
    this.#takeWorkspace(session, result);
    this.takeSettings(session, result, true);
    if (ref !== undefined && dropped.includes("model")) {
      await live.connection.call("session/setModel", { sessionId: zcodeSid, model: ref.modelId }).catch(() => {});
    }
    await Promise.all([...session.aliases].map((alias) => store.save(alias, this.#record(session))));
  }

  /** A call whose unknown keys are left out one by one: older builds refuse what newer ones want. */
  async #lenient(
    live: LiveBackend,
    method: string,
    params: JsonObject,
  ): Promise<{ result: JsonObject; dropped: string[] }> {
    const dropped: string[] = [];
    let current = params;
    for (;;) {
      try {
        return { result: await live.connection.call(method, current), dropped };
      } catch (error) {
        const key = isKind(error, "invalid") ? UNKNOWN_KEY.exec(error.message)?.[1] : undefined;
        if (key === undefined || !(key in current) || dropped.length >= DROPPED_KEYS_MAX) throw error;
        dropped.push(key);
        const { [key]: _gone, ...rest } = current;
        current = rest;
      }
    }
  }

  async #resume(session: Session, live: LiveBackend): Promise<void> {
    const sessionId = session.zcodeSid ?? "";
    const place = session.cwd === "" ? {} : { workspace: workspaceOf(session.cwd) };
    let base: JsonObject = { sessionId, ...(session.isCwdTrusted ? place : {}), ...mcpOf(session) };
    let attempt = 0;
    for (;;) {
      try {
        const { result } = await this.#lenient(live, "session/resume", base);
        session.seqs.reset();
        session.turns.clear();
        session.needsSettle = true;
        this.#takeWorkspace(session, result);
        this.#joinRunning(session, result);
        this.takeSettings(session, result, true);
        return;
      } catch (error) {
        if (isKind(error, "not-found")) throw this.#gone(session, error);
        if (isKind(error, "invalid") && base["workspace"] === undefined && session.cwd !== "") {
          // Older builds insist on a workspace; the client's is all there is.
          base = { ...base, ...place };
          continue;
        }
        // The first frame after a start gets lost on some builds.
        if (!isKind(error, "timeout") || attempt++ > 0) throw error;
        await pause(this.#host.clock, 1_000);
      }
    }
  }

  async #subscribe(
    session: Session,
    live: LiveBackend,
    afterSeq: number | undefined,
    timeoutMs?: number,
  ): Promise<void> {
    const params: JsonObject = {
      sessionId: session.zcodeSid ?? "",
      deliveryKind: DELIVERY,
      includeSnapshot: false,
      // Without afterSeq the window is empty; with 0 the backend would compute the whole log.
      ...(afterSeq === undefined ? {} : { afterSeq }),
    };
    for (let attempt = 0; ; attempt++) {
      try {
        const result = await live.connection.call(
          "session/subscribe",
          params,
          timeoutMs === undefined ? {} : { timeoutMs },
        );
        this.#host.feed(session, arrayAt(result, "events") ?? []);
        return;
      } catch (error) {
        if (isKind(error, "no-method")) {
          throw new ZcodeError(
            "too-old",
            `This ZCode has no session/subscribe; version ${OLDEST_VERSION} or newer is needed`,
          );
        }
        if (!isKind(error, "timeout") || attempt > 0) throw error;
        await pause(this.#host.clock, 500);
      }
    }
  }

  /** A resumed session can forget its model before its first input. */
  async #reassertChoice(session: Session, live: LiveBackend): Promise<void> {
    const { model, thought } = session.choice;
    const { settings } = session;
    if (model === undefined && thought === undefined) return;
    const ref = model === undefined ? settings.model : parseModelValue(model, settings.models);
    if (ref === undefined) return;
    const isSame = sameModel(ref, settings.model) && (thought === undefined || thought === settings.thought);
    if (isSame) return;
    const level = levelFor(entryOf(settings.models, ref), thought ?? settings.thought);
    try {
      const params = { sessionId: session.zcodeSid ?? "", model: modelSelection(ref, level) };
      this.takeSettings(session, await live.connection.call("session/setModel", params));
    } catch {
      this.#host.log("warn", "chosen model could not be set again");
    }
  }

  #takeWorkspace(session: Session, snapshot: JsonObject): void {
    const info = objectAt(snapshot, "session");
    const path = stringAt(objectAt(info, "workspace"), "workspacePath");
    if (path !== undefined) {
      session.cwd = path;
      session.isCwdTrusted = true;
    }
    const title = stringAt(info, "title");
    if (title !== undefined && title !== "" && !session.isBornHere) session.title ??= title;
  }

  #joinRunning(session: Session, snapshot: JsonObject): void {
    const status = stringAt(objectAt(snapshot, "projection"), "status");
    session.turns.joinedRunning = status === "running" || status === "waiting";
  }

  #record(session: Session): LazyRecord {
    const { cwd, zcodeSid, choice } = session;
    return {
      cwd,
      createdAt: this.#host.clock.now(),
      ...(zcodeSid === undefined ? {} : { zcodeSid }),
      choice: { ...choice },
    };
  }

  /** Persists what was chosen for the session. */
  async saveChoice(session: Session): Promise<void> {
    await Promise.all([...session.aliases].map((alias) => this.#host.store.save(alias, this.#record(session))));
  }

  #gone(session: Session, error: ZcodeError): ZcodeError {
    const id = session.mainAlias ?? session.zcodeSid ?? "";
    const text = `ZCode no longer has the conversation ${id} (${session.zcodeSid ?? "never created"}): ${error.message}. Start a new one`;
    return new ZcodeError("not-found", text, error.code, undefined, error);
  }
}

function readCommand(value: Json): JsonObject[] {
  if (typeof value === "string") return [{ name: value.replace(/^\//, "") }];
  return isObject(value) && stringAt(value, "name") !== undefined ? [value] : [];
}

/** The backend is gone: what ran there is over, and so is what the session knew about it. */
export function sessionDown(host: Host, session: Session, error: Error): void {
  session.generation = undefined;
  const kinds = new Set([...session.turns.live].map((turn) => turn.kind));
  const updates: JsonObject[] = [];
  session.tasks.shutdown(updates);
  reportBackendTasks(host, session);
  for (const turn of session.turns.live) session.cards.closeTurn(turn.key, undefined, updates);
  session.emit(updates);
  session.turns.reset();
  session.seqs.reset();
  for (const run of session.runs) run.endTurn({ kind: "down", error });
  for (const kind of ["goal", "background", "compact"] as const)
    if (kinds.has(kind)) reportBackendTurn(host, session, false, kind);
}
