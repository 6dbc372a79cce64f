/** One real agent behind a bridge and a hub in this process, with a model that says what the test wrote down. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect } from "vitest";
import { acpBackend } from "../../../src/backends/acp/acp-backend.ts";
import { type Json, type JsonObject, stringAt } from "../../../src/protocol/json.ts";
import { FakeModel } from "../../support/fake-model/server.ts";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";
import { connectClient, type RawClient, RpcFailed, rawClient } from "../../support/raw-client.ts";
import type { AgentRow, Place } from "../rows/row.ts";
import type { Agent } from "./agents.ts";
import { environmentOf, makePlace, processesOf, removePlace } from "./place.ts";
import { Tap } from "./tap.ts";

/** The agent behind one bridge. */
export interface Run {
  readonly instanceId: string;
  /** Between bridge and agent. */
  readonly tap: Tap;
  /** Has initialized. */
  readonly editor: RawClient;
  /** The bridge's exit code, once it has ended. */
  readonly ended: Promise<number>;
  agentPid(): number;
  /** A remote client of its own device: initialized, attached to nothing. */
  stranger(name: string): Promise<RawClient>;
}

export interface Stage extends Run {
  readonly row: AgentRow;
  readonly place: Place;
  readonly model: FakeModel;
  readonly harness: HubHarness;
  /** The session the editor opened. */
  readonly sessionId: string;
  /** A remote client of its own device, attached to the session by loading it. */
  phone(name: string): Promise<RawClient>;
  prompt(client: RawClient, text: string): Promise<JsonObject>;
  /** Starts the agent once more in the same place, behind another bridge. */
  again(): Promise<Run>;
}

interface Scene {
  readonly agent: Agent;
  readonly model: FakeModel;
  readonly place: Place;
  readonly harness: HubHarness;
  readonly stderr: PassThrough;
  readonly editorCapabilities: JsonObject;
}

/** `$0` is a file for the pid: the shell becomes the agent, so that it is the agent's too. */
const NOTE_PID = 'echo $$ >"$0" && exec "$@"';

/** Runs the test on a fresh stage; afterwards nothing of it is left, neither process nor file. */
export async function onStage(
  agent: Agent,
  test: (stage: Stage) => Promise<void>,
  editorCapabilities: JsonObject = {},
): Promise<void> {
  const model = await FakeModel.start();
  const place = makePlace(model.url);
  const harness = await startHub();
  const stderr = new PassThrough();
  const said: string[] = [];
  stderr.setEncoding("utf8").on("data", (text: string) => said.push(text));
  try {
    await test(await enter({ agent, model, place, harness, stderr, editorCapabilities }));
  } catch (error) {
    if (error instanceof RpcFailed) console.error(`${agent.name} answered:`, error.code, error.data);
    console.error(`${agent.name} said on stderr:\n${said.join("").slice(-2000)}`);
    throw error;
  } finally {
    await harness.stop();
    await model.stop();
    for (const pid of processesOf(place)) process.kill(pid, "SIGKILL");
    removePlace(place);
  }
}

async function enter(scene: Scene): Promise<Stage> {
  const { agent, model, place, harness } = scene;
  const run = await startRun(scene, "i-1");
  const opened = await run.editor.call("session/new", { cwd: place.cwd, mcpServers: [] });
  const sessionId = stringAt(opened, "sessionId") ?? "";
  return {
    ...run,
    row: agent.row,
    place,
    model,
    harness,
    sessionId,
    phone: async (name) => {
      const client = await run.stranger(name);
      await loadSession(client, place, sessionId);
      return client;
    },
    prompt: (client, text) => {
      const end = client.call("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
      // A test that fails before it waits for the end is reported by what failed, not by this.
      end.catch(() => undefined);
      return end;
    },
    again: () => startRun(scene, "i-2"),
  };
}

export const loadSession = (client: RawClient, place: Place, sessionId: string): Promise<JsonObject> =>
  client.call("session/load", { sessionId, cwd: place.cwd, mcpServers: [] });

async function startRun(scene: Scene, instanceId: string): Promise<Run> {
  const { agent, place, harness, stderr } = scene;
  const { row, installed } = agent;
  const pidFile = join(place.home, `pid-${instanceId}`);
  const runtime = installed.runtime === undefined ? [] : [installed.runtime];
  const backend = acpBackend({
    command: "/bin/sh",
    args: ["-c", NOTE_PID, pidFile, ...runtime, installed.entry, ...row.args],
    cwd: place.cwd,
    env: environmentOf(row, place),
    name: row.name,
    stderr,
  });
  const tap = new Tap(backend);
  const bridge = harness.bridge(tap, instanceId);
  const editor = rawClient(bridge.editor);
  await editor.initialize(scene.editorCapabilities);
  await expect.poll(() => harness.hub.registry.get(instanceId)).toBeDefined();
  return {
    instanceId,
    tap,
    editor,
    ended: bridge.ended,
    agentPid: () => {
      const pid = Number(readFileSync(pidFile, "utf8"));
      // 0 would be our own group to a signal.
      if (!(pid > 1)) throw new Error("the agent's pid was not noted");
      return pid;
    },
    stranger: async (name) => {
      const url = `ws://127.0.0.1:${harness.port}/acp?instance=${instanceId}`;
      const client = await connectClient(url, `owner:${name}`);
      await client.initialize();
      return client;
    },
  };
}

/** Puts a session into the mode in which tools ask, where it does not start in it. */
export async function askFirst(
  stage: Stage,
  client: RawClient = stage.editor,
  sessionId: string = stage.sessionId,
): Promise<void> {
  const { askMode } = stage.row;
  if (askMode !== undefined) await client.call("session/set_mode", { sessionId, modeId: askMode });
}

/** The model calls the shell tool for `touch <file>`, and when that is over says `after`. */
export function scriptTouch(stage: Stage, file: string, after: Json & string): void {
  stage.model.reply(stage.row.shell(`touch ${file}`));
  stage.model.reply({ kind: "text", text: after });
}
