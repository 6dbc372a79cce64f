/**
 * The bridge process (design §2): one agent, an editor on stdio (or none), a link to the hub. The agent is spawned first; what the
 * hub needs is loaded and dialled after, so that an editor's start pays for nothing but the spawn.
 */
import type { Backend, BackendExit } from "../backends/backend.ts";
import { LIMITS } from "../protocol/limits.ts";
import { ndjsonTransport } from "../transport/ndjson.ts";
import type { CloseInfo, Transport } from "../transport/transport.ts";
import { type IdleClock, watchIdle } from "./idle-watch.ts";
import { type BridgeLog, type LogFields, silentLog } from "./log.ts";
import type { BridgePaths } from "./paths.ts";
import { RootRunner } from "./root-runner.ts";
import type { SharingOptions } from "./sharing.ts";

export interface BridgeOptions {
  readonly backend: Backend;
  /** Absent: not shared, a plain pipe with the multiplexer in between. */
  readonly sharing: (SharingOptions & { readonly paths: BridgePaths }) | undefined;
  readonly isHeadless: boolean;
  readonly workspace: string;
  readonly version: string;
  readonly forms: "any" | "primary";
  readonly log?: BridgeLog;
  /** The editor's side; default: this process's stdio. */
  readonly primary?: Transport;
  /** What the idle time of a headless bridge is measured with (L6); default: the real time. */
  readonly idleClock?: IdleClock;
}

const BRIDGE_JOURNAL_BYTES = 33_554_432;
/** Updates of sessions nobody has opened yet: so many wait, so long (S6). */
const HELD_UPDATES_MAX = 1000;
const HELD_UPDATES_MS = 5000;
/** A headless bridge ends this long after the last client and the last work (L6). */
const IDLE_MS = 1_800_000;
const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
/** How long an editor that reads slowly is waited for with the last words. */
const LAST_WORDS_MS = 2000;
/** How long a disk is waited for with the last lines of the log. */
const LAST_LINES_MS = 500;
/** How long an agent's end waits for an editor that has said nothing yet. */
const FIRST_WORDS_MS = 1000;
/** An agent that ends closes its pipes first. How long its end is waited for. */
const CLOSED_PIPE_MS = 1000;

/** Runs until the editor has gone or the agent has ended. Resolves to the exit code. */
export async function runBridge(options: BridgeOptions): Promise<number> {
  const agent = options.backend.start();
  const primary = options.isHeadless ? undefined : (options.primary ?? ndjsonTransport(process.stdin, process.stdout));
  const end = ending();
  const log = options.log ?? silentLog;
  const runner = new RootRunner({
    agent,
    primary,
    log,
    onPrimaryGone: () => end.resolve({ kind: "editor-gone" }),
    onAgentClosed: (info) => endUnreachable(options.backend, end.promise, log, info),
    root: {
      hasPrimary: primary !== undefined,
      isShared: options.sharing !== undefined,
      seesCapabilitiesLive: options.backend.seesCapabilitiesLive,
      forms: options.forms,
      workspace: options.workspace,
      version: options.version,
      journalBytes: BRIDGE_JOURNAL_BYTES,
      limits: LIMITS,
      heldUpdatesMax: HELD_UPDATES_MAX,
      heldUpdatesMs: HELD_UPDATES_MS,
    },
  });
  runner.start();
  void options.backend.exited.then((exit) => end.resolve({ kind: "agent-gone", exit }));
  const onSignal = (): void => end.resolve({ kind: "signal" });
  for (const signal of SIGNALS) process.once(signal, onSignal);
  const stopSharing = options.sharing === undefined ? undefined : share(options, runner);
  const stopWatching = options.isHeadless ? watchIdle(runner.root, IDLE_MS, onSignal, options.idleClock) : undefined;

  const why = await end.promise;
  stopWatching?.();
  for (const signal of SIGNALS) process.removeListener(signal, onSignal);
  const code = await finish(why, options, runner, primary, stopSharing);
  log.info("bridge ends", whyFields(why));
  await within(log.flush(), LAST_LINES_MS);
  return code;
}

/** S8: an agent that has closed a pipe and lives on would leave everybody waiting for ever: it is ended. */
function endUnreachable(backend: Backend, ended: Promise<Ending>, log: BridgeLog, { reason }: CloseInfo): void {
  const timer = setTimeout(() => {
    log.warn("agent has closed its pipe and lives on: it is ended", { reason });
    void backend.stop();
  }, CLOSED_PIPE_MS);
  timer.unref();
  void ended.then(() => clearTimeout(timer));
}

type Ending = { readonly kind: "editor-gone" | "signal" } | { readonly kind: "agent-gone"; readonly exit: BackendExit };

function whyFields(why: Ending): LogFields {
  if (why.kind !== "agent-gone") return { why: why.kind };
  const { code, signal, error } = why.exit;
  return { why: why.kind, code: code ?? undefined, signal: signal ?? undefined, error: error?.message };
}

async function within(work: Promise<void>, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  await Promise.race([work, limit]);
  clearTimeout(timer);
}

function ending(): { promise: Promise<Ending>; resolve: (why: Ending) => void } {
  let resolve: (why: Ending) => void = () => undefined;
  const promise = new Promise<Ending>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** Loads what the link needs, once the agent is on its way. */
function share(options: BridgeOptions, runner: RootRunner): () => Promise<void> {
  const { sharing } = options;
  let isStopped = false;
  const started = new Promise<(() => void) | undefined>((resolve) => {
    setImmediate(() => {
      if (sharing === undefined || isStopped) return resolve(undefined);
      import("./sharing.ts").then(
        ({ startSharing }) => resolve(startSharing(sharing, runner, options)),
        () => resolve(undefined),
      );
      return undefined;
    });
  });
  return async () => {
    isStopped = true;
    (await started)?.();
  };
}

async function finish(
  why: Ending,
  options: BridgeOptions,
  runner: RootRunner,
  primary: Transport | undefined,
  stopSharing: (() => Promise<void>) | undefined,
): Promise<number> {
  if (why.kind === "agent-gone") {
    const { error } = why.exit;
    if (error !== undefined) process.stderr.write(`acp-hub: the agent could not be started: ${error.message}\n`);
    runner.onAgentExit(why.exit);
    await runner.heardEditor(FIRST_WORDS_MS);
  }
  // L1: EOF, TERM, KILL to the agent's group, each bounded.
  await options.backend.stop();
  await runner.stop();
  await stopSharing?.();
  primary?.close({ reason: "bridge-ends" });
  if (primary !== undefined && why.kind !== "editor-gone") await written(primary, LAST_WORDS_MS);
  if (why.kind !== "agent-gone") return 0;
  return why.exit.error !== undefined || why.exit.code !== 0 ? why.exit.code || 1 : 0;
}

/** What is still on its way to the editor would be lost with this process. */
async function written(primary: Transport, limitMs: number): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (primary.bufferedBytes > 0 && performance.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 5));
}
