/**
 * Keeps at most one app-server: started on the first need, found gone and started again on the next one. Each start is a
 * new generation; whoever remembers something about a generation compares numbers.
 */
import type { JsonObject } from "../../../protocol/json.ts";
import { type Clock, pause } from "../clock.ts";
import type { Log } from "../log.ts";
import { type ConnectionHandlers, ZcodeConnection } from "../rpc/connection.ts";
import { isKind, ZcodeError } from "../rpc/errors.ts";
import type { ChildExit, StartChild, ZcodeChild } from "./child.ts";
import type { LaunchSpec } from "./launch.ts";

export interface SupervisorDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly startChild: StartChild;
  plan(): Promise<LaunchSpec>;
  /** The version text of the executable, for the refusal of a build that is too old. */
  version(spec: LaunchSpec): Promise<string>;
  readonly handlers: ConnectionHandlers;
  /** The running generation ended, expected or not. */
  onDown(generation: number, error: ZcodeError): void;
  /** A generation is ready for calls. */
  onUp(live: LiveBackend): void;
}

export interface LiveBackend {
  readonly connection: ZcodeConnection;
  readonly generation: number;
}

const PROBE_EVERY_MS = 3_000;
const BOOT_LIMIT_MS = 60_000;
export const OLDEST_VERSION = "0.14.8";

export class Supervisor {
  readonly #deps: SupervisorDeps;
  #generation = 0;
  #live: LiveBackend | undefined;
  #child: ZcodeChild | undefined;
  #connection: ZcodeConnection | undefined;
  #starting: Promise<LiveBackend> | undefined;
  #isStopped = false;

  constructor(deps: SupervisorDeps) {
    this.#deps = deps;
  }

  /** The running backend, if one runs and is ready. */
  get current(): LiveBackend | undefined {
    return this.#live;
  }

  /** The channel of the newest start, also while it boots: some questions come before it is ready. */
  get connection(): ZcodeConnection | undefined {
    return this.#connection;
  }

  /** The running backend, started if need be. Rejects with ZcodeError `dead` or `too-old`. */
  ready(): Promise<LiveBackend> {
    if (this.#isStopped) return Promise.reject(new ZcodeError("dead", "The ZCode backend was stopped"));
    if (this.#live !== undefined) return Promise.resolve(this.#live);
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#child?.stop();
  }

  async #start(): Promise<LiveBackend> {
    const generation = ++this.#generation;
    const { clock, log, handlers } = this.#deps;
    const spec = await this.#deps.plan();
    const startedAt = clock.now();
    const link: { child?: ZcodeChild } = {};
    const connection = new ZcodeConnection((line) => link.child?.write(line), clock, log, {
      ...handlers,
      onSilent: () => {
        log("warn", "zcode answers nothing any more: it is ended", { generation });
        void link.child?.stop();
      },
    });
    const child = this.#deps.startChild(spec, {
      onLine: (line) => connection.receive(line),
      onExit: (exit) => this.#down(generation, connection, exitError(exit, clock.now() - startedAt, spec.command)),
    });
    link.child = child;
    this.#connection = connection;
    this.#child = child;
    await this.#boot(connection, spec, child);
    if (connection.isDead) throw new ZcodeError("dead", "ZCode ended while it started");
    this.#live = { connection, generation };
    log("info", "zcode is up", { generation, ms: clock.now() - startedAt });
    this.#deps.onUp(this.#live);
    return this.#live;
  }

  /**
   * Waits for the first answer. A booting app-server may drop what it is sent, so a harmless question is asked again and
   * again: `session/subscribe` without parameters, which a usable build refuses and one that is too old does not know.
   */
  async #boot(connection: ZcodeConnection, spec: LaunchSpec, child: ZcodeChild): Promise<void> {
    const { clock } = this.#deps;
    const deadline = clock.now() + BOOT_LIMIT_MS;
    const answered = new AbortController();
    let verdict: ZcodeError | undefined;
    const ask = (): void => {
      connection.call("session/subscribe", {} satisfies JsonObject, { timeoutMs: BOOT_LIMIT_MS }).then(
        () => answered.abort(),
        (error: unknown) => {
          if (isKind(error, "timeout")) return;
          if (isKind(error, "no-method", "dead")) verdict = error;
          answered.abort();
        },
      );
    };
    while (!answered.signal.aborted && clock.now() < deadline) {
      ask();
      await pause(clock, PROBE_EVERY_MS, answered.signal);
    }
    if (verdict?.kind === "dead") throw verdict;
    if (verdict === undefined && answered.signal.aborted) return;
    const error =
      verdict === undefined
        ? new ZcodeError("dead", `ZCode did not answer within ${BOOT_LIMIT_MS / 1000} s of its start`)
        : await this.#tooOld(spec);
    connection.die(error);
    await child.stop();
    throw error;
  }

  async #tooOld(spec: LaunchSpec): Promise<ZcodeError> {
    const found = await this.#deps.version(spec);
    return new ZcodeError(
      "too-old",
      `This ZCode (version ${found}) has no session/subscribe; version ${OLDEST_VERSION} or newer is needed`,
    );
  }

  #down(generation: number, connection: ZcodeConnection, error: ZcodeError): void {
    connection.die(error);
    if (this.#live?.generation === generation) {
      this.#live = undefined;
      this.#child = undefined;
    }
    this.#deps.log(this.#isStopped ? "info" : "warn", "zcode ended", { generation, reason: error.code });
    this.#deps.onDown(generation, error);
  }
}

function exitError(exit: ChildExit, ageMs: number, command: string): ZcodeError {
  if (exit.error !== undefined) {
    const isMissing = (exit.error as NodeJS.ErrnoException).code === "ENOENT";
    const why = isMissing ? "was not found; set ZCODE_BIN or put zcode on PATH" : "could not be started";
    return new ZcodeError("dead", `The ZCode executable ${command} ${why}`, 0, undefined, exit.error);
  }
  const how = exit.signal === null ? `exit code ${exit.code ?? "unknown"}` : `signal ${exit.signal}`;
  const soon = ageMs < 2_000 ? " right after its start" : "";
  const tail = exit.stderrTail === "" ? "" : `; its last words: ${exit.stderrTail.slice(-600)}`;
  return new ZcodeError("dead", `ZCode ended${soon} with ${how}${tail}`, exit.code ?? 0);
}
