/** A hub in this process with an open door, and bridges to it: for integration tests of everything behind authentication. */
import { mkdtempSync, rmSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import type { Backend } from "../../src/backends/backend.ts";
import { runBridge } from "../../src/bridge/bridge.ts";
import { makePrivateDir, type Paths, resolvePaths } from "../../src/config/paths.ts";
import { Hub, type HubAuth, type HubOptions } from "../../src/hub/hub.ts";
import type { Principal } from "../../src/hub/principal.ts";
import { deviceId } from "../../src/protocol/ids.ts";
import { LIMITS } from "../../src/protocol/limits.ts";
import { isPreset, PRESETS } from "../../src/protocol/scopes.ts";
import { openStore } from "../../src/store/open-store.ts";
import type { Store } from "../../src/store/ports.ts";
import { memoryPair } from "../../src/transport/memory.ts";
import type { Transport } from "../../src/transport/transport.ts";

/** `Bearer <preset>:<name>` is that preset's device of that name. */
function principalOf(authorization: string | undefined): Principal | undefined {
  const [preset = "", name = "test"] = (authorization ?? "").replace(/^Bearer /, "").split(":");
  return isPreset(preset) ? { deviceId: deviceId(`d_${name}`), name, scopes: new Set(PRESETS[preset]) } : undefined;
}

const openAuth: HubAuth = {
  authenticateHttp: (request) =>
    Promise.resolve(principalOf(request.headers.authorization) ?? { status: 401, detail: "no credential" }),
  authenticateUpgrade: (request: IncomingMessage) =>
    Promise.resolve(principalOf(request.headers.authorization) ?? { status: 401, detail: "no credential" }),
  onRevoked: () => () => undefined,
  onScopesChanged: () => () => undefined,
  adoptRemoteToken: () => undefined,
};

export interface HubHarness {
  /** The hub that runs now: another one after `restart`. */
  readonly hub: Hub;
  readonly paths: Paths;
  readonly port: number;
  readonly url: string;
  /** Ends the hub and starts another on the same files, as after an upgrade. Bridges dial again by themselves. */
  restart(): Promise<void>;
  /** Starts a bridge in this process; its editor's side is the returned transport. */
  bridge(backend: Backend, instanceId?: string): { editor: Transport; ended: Promise<number>; instanceId: string };
  stop(): Promise<void>;
}

export interface HarnessOptions {
  /** Keeps sessions on disk, as the real hub does. */
  readonly isDurable?: boolean;
  readonly routes?: HubOptions["routes"];
  readonly paramsFilter?: HubOptions["paramsFilter"];
  readonly basePath?: string;
  readonly edge?: HubOptions["edge"];
  readonly limits?: Partial<HubOptions["limits"]>;
  readonly scheduler?: HubOptions["scheduler"];
}

function makeHub(paths: Paths, port: number, store: Store | undefined, options: HarnessOptions): Hub {
  return new Hub({
    paths,
    version: "0.0.0-test",
    host: "127.0.0.1",
    port,
    basePath: options.basePath ?? "",
    edge: options.edge ?? {},
    limits: { ...LIMITS, ...options.limits },
    auth: openAuth,
    log: pino({ level: "silent" }),
    store,
    scheduler: options.scheduler,
    paramsFilter: options.paramsFilter ?? (() => (_method, params) => ({ ok: true, params, ignored: [] })),
    routes: options.routes ?? (() => []),
  });
}

export async function startHub(options: HarnessOptions = {}): Promise<HubHarness> {
  const home = mkdtempSync(join(tmpdir(), "acp-hub-test-"));
  const paths = resolvePaths(home);
  makePrivateDir(paths.runDir);
  const open = (): Store | undefined =>
    options.isDurable === true ? openStore({ path: paths.database, onError: () => undefined }).store : undefined;
  let store = open();
  let hub = makeHub(paths, 0, store, options);
  const port = await hub.start();
  const editors: Transport[] = [];
  const bridges: Promise<number>[] = [];
  return {
    get hub() {
      return hub;
    },
    paths,
    port,
    async restart() {
      await hub.stop();
      store?.close();
      store = open();
      hub = makeHub(paths, port, store, options);
      await hub.start();
    },
    url: `http://127.0.0.1:${port}`,
    bridge(backend, instanceId = `i-${editors.length}`) {
      const [editor, primary] = memoryPair();
      editors.push(editor);
      const ended = runBridge({
        backend,
        primary,
        isHeadless: false,
        workspace: home,
        version: "0.0.0-test",
        forms: "any",
        sharing: { instanceId, name: backend.name, launch: undefined, paths },
      });
      bridges.push(ended);
      return { editor, ended, instanceId };
    },
    async stop() {
      for (const editor of editors) editor.close();
      await Promise.all(bridges);
      await hub.stop();
      store?.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
