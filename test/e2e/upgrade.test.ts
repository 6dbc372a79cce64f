import { existsSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { HubInfo } from "../../src/cli/local-api.ts";
import { isObject, objectAt } from "../../src/protocol/json.ts";
import { readStamp } from "../../src/protocol/meta.ts";
import { openDatabase } from "../../src/store/driver.ts";
import { isRunning } from "../support/processes.ts";
import type { RawClient } from "../support/raw-client.ts";
import { loadOf, openSession, processesOf, Stage, scripted, textPrompt, until } from "../support/stage.ts";
import { Versions } from "../support/versions.ts";

const versions = new Versions();
let [v1, v2, v3]: [string, string, string] = ["", "", ""];
beforeAll(() => {
  [v1, v2, v3] = [versions.build("1.0.0"), versions.build("1.1.0-rc.2"), versions.build("1.1.0")];
});
afterAll(() => versions.remove());

const hubsOf = (stage: Stage): number[] =>
  processesOf(stage.home.dir)
    .filter(({ command }) => command.includes(" serve "))
    .map(({ pid }) => pid);

const cursorOf = (client: RawClient): { epoch: string; seq: number } => {
  const { epoch, seq } = readStamp(client.notifications("session/update").at(-1)) ?? { epoch: "", seq: 0 };
  return { epoch, seq };
};

/** A turn with a question that is open while text streams; it ends when the question is answered. */
const LONG_TURN = {
  turns: [[{ ask: true, wait: false }, { stream: { count: 900, everyMs: 4 } }, { answers: true }, { say: "done" }]],
};

describe("hubs of several versions", () => {
  let stage: Stage;
  beforeEach(() => {
    stage = new Stage();
  });
  afterEach(() => stage.end());

  /** An editor with a session, through a bridge of this build that may start a hub. */
  async function share(main: string, script: Parameters<typeof scripted>[0] = {}) {
    const { editor, child } = stage.home.bridge(scripted(script), { isAutostart: true, main });
    const sessionId = await openSession(editor);
    return { editor, child, sessionId };
  }

  /** The hub that serves and is of this version, once it does. */
  async function hubOf(version: string): Promise<HubInfo> {
    let info: HubInfo | undefined;
    await expect
      .poll(
        async () => {
          info = await stage.hubInfo();
          const isReady = (await stage.api("GET", "/readyz").catch(() => undefined))?.status === 200;
          return isReady ? info?.version : undefined;
        },
        { timeout: 20_000, interval: 20 },
      )
      .toBe(version);
    if (info === undefined) throw new Error("no hub");
    stage.url = `http://127.0.0.1:${info.port}`;
    return info;
  }

  /** A phone in the session, from its cursor where it has one. */
  async function attach(instance: string, sessionId: string, cursor?: { epoch: string; seq: number }) {
    const client = await stage.client("driver", `?instance=${instance}`);
    const loaded = await client.call("session/load", loadOf(sessionId, cursor === undefined ? {} : { cursor }));
    return { client, verdict: objectAt(objectAt(loaded, "_meta"), "acp-hub")?.["verdict"] };
  }

  it("L2 S3 R4 a newer bridge has an older hub replaced in mid-turn: a question open, text half said, nothing lost or doubled", async () => {
    const old = await share(v1, LONG_TURN);
    const [instance] = await stage.linked(1, 20_000);
    const before = await hubOf("1.0.0");
    const { client } = await attach(instance?.id ?? "", old.sessionId);
    const turn = old.editor.call("session/prompt", textPrompt(old.sessionId, "go"));
    const first = await client.nextRequest("session/request_permission");
    await expect.poll(() => client.updates().length, { interval: 5 }).toBeGreaterThan(50);
    const newer = await share(v3);
    await expect.poll(() => client.closed?.code, { timeout: 20_000, interval: 5 }).toBe(1001);
    const seen = old.editor.updates().length;
    const after = await hubOf("1.1.0");
    expect(after.pid).not.toBe(before.pid);
    expect(isRunning(before.pid)).toBe(false);
    // Bookmarks and paired phones find it where it was.
    expect(after.port).toBe(before.port);
    await stage.linked(2, 10_000);
    const resumed = await attach(instance?.id ?? "", old.sessionId, cursorOf(client));
    expect(resumed.verdict).toBe("ok");
    // Asked when it dialled, and again under the history it loaded: the first copy is taken back.
    const early = await resumed.client.nextRequest("session/request_permission");
    const isTakenBack = (): boolean =>
      resumed.client.notifications("$/cancel_request").some(({ requestId }) => requestId === early.id);
    const asked = (await until(isTakenBack, 1000))
      ? await resumed.client.nextRequest("session/request_permission")
      : early;
    const idOf = (params: unknown) => (isObject(params) ? objectAt(objectAt(params, "_meta"), "acp-hub") : {});
    expect(idOf(asked.params)?.["interactionId"]).toBe(idOf(first.params)?.["interactionId"]);
    expect(old.editor.updates().length).toBeGreaterThan(seen);
    resumed.client.answer(asked.id, { outcome: { outcome: "selected", optionId: "allow" } });
    expect(await turn).toEqual({ stopReason: "end_turn" });
    const whole = old.editor.textOf("agent_message_chunk");
    const both = () => client.textOf("agent_message_chunk") + resumed.client.textOf("agent_message_chunk");
    await expect.poll(both).toBe(whole);
    const fresh = await attach(instance?.id ?? "", old.sessionId);
    await expect.poll(() => fresh.client.textOf("agent_message_chunk")).toBe(whole);
    expect(await newer.editor.call("session/prompt", textPrompt(newer.sessionId, "hi"))).toEqual({
      stopReason: "end_turn",
    });
    expect(await until(() => hubsOf(stage).length === 1, 10_000)).toBe(true);
  });

  it("design 2 an older bridge, however often it dials, never replaces a newer hub", async () => {
    const newer = await share(v3);
    await stage.linked(1, 20_000);
    const { pid } = await hubOf("1.1.0");
    for (const main of [v1, v2]) await share(main);
    await stage.linked(3, 20_000);
    // Not even when it is asked outright.
    const ask = { version: "1.0.0", pid: process.pid, startedBy: "bridge" };
    expect(await stage.api("POST", "/api/hub/successor", ask)).toMatchObject({
      status: 409,
      body: { code: "not-newer" },
    });
    expect(await stage.api("POST", "/api/hub/successor", { ...ask, version: "newest" })).toMatchObject({ status: 409 });
    expect((await stage.hubInfo())?.pid).toBe(pid);
    expect(await newer.editor.call("session/prompt", textPrompt(newer.sessionId, "hi"))).toEqual({
      stopReason: "end_turn",
    });
    expect(hubsOf(stage)).toEqual([pid]);
  });

  it("design 2 bridges of three versions at once settle on one hub of the newest, a pre-release counting as older", async () => {
    const shared = await Promise.all([v2, v1, v3, v1, v3, v2].map((main) => share(main)));
    await hubOf("1.1.0");
    await stage.linked(6, 20_000);
    const { pid } = await hubOf("1.1.0");
    expect(await until(() => hubsOf(stage).length === 1, 15_000)).toBe(true);
    expect(hubsOf(stage)).toEqual([pid]);
    for (const { editor, sessionId } of shared)
      expect(await editor.call("session/prompt", textPrompt(sessionId, "hi"))).toEqual({ stopReason: "end_turn" });
  });

  it("L2 a hub that is killed while it makes room: the newer one takes its place all the same, with what was on disk", async () => {
    const old = await share(v1, { turns: [[{ say: "kept" }]] });
    const [instance] = await stage.linked(1, 20_000);
    const before = await hubOf("1.0.0");
    const { client } = await attach(instance?.id ?? "", old.sessionId);
    await old.editor.call("session/prompt", textPrompt(old.sessionId, "go"));
    await expect.poll(() => client.textOf("agent_message_chunk")).toBe("kept");
    // One that does not read its goodbye is waited for: the hub is drawn out in the middle of its end.
    client.stopReading();
    await share(v3);
    await expect.poll(() => existsSync(stage.paths.hubInfo), { timeout: 20_000, interval: 2 }).toBe(false);
    expect(isRunning(before.pid)).toBe(true);
    process.kill(before.pid, "SIGKILL");
    await hubOf("1.1.0");
    await stage.linked(2, 20_000);
    const fresh = await attach(instance?.id ?? "", old.sessionId);
    await expect.poll(() => fresh.client.textOf("agent_message_chunk")).toBe("kept");
    expect(await until(() => hubsOf(stage).length === 1, 10_000)).toBe(true);
  });

  it("C7.hello a hub started by hand stays: status and log say that a newer bridge is there", async () => {
    const { child, url } = await stage.home.serve([], v1);
    stage.url = url;
    const newer = await share(v3);
    await stage.linked(1, 20_000);
    const status = await stage.home.run(["status"]);
    expect(status.stdout).toContain("a bridge of 1.1.0 is connected: end this hub and start the newer one");
    expect(JSON.parse((await stage.home.run(["status", "--json"])).stdout)).toMatchObject({
      version: "1.0.0",
      startedBy: "person",
      newerBridge: "1.1.0",
    });
    const ask = { version: "1.1.0", pid: process.pid, startedBy: "bridge" };
    expect(await stage.api("POST", "/api/hub/successor", ask)).toMatchObject({
      status: 409,
      body: { code: "by-hand" },
    });
    await newer.editor.call("session/prompt", textPrompt(newer.sessionId, "hi"));
    expect(child.exitCode).toBe(null);
    expect(hubsOf(stage)).toEqual([child.pid]);
    const log = () => readFileSync(join(stage.paths.logDir, "hub.log"), "utf8");
    await expect.poll(log).toContain('"msg":"a bridge is newer than this hub"');
  });

  it("C1.service a service's hub ends for a newer one only when that is what its supervisor would start", async () => {
    // What the unit names: a link that an update turns to the new files.
    const unit = join(stage.home.dir, "program");
    const point = (main: string): void => {
      rmSync(`${unit}.new`, { force: true });
      symlinkSync(join(main, "../../.."), `${unit}.new`);
      renameSync(`${unit}.new`, unit);
    };
    const start = () => stage.home.serve(["--supervised"], join(unit, "dist/cli/main.js"));
    point(v1);
    const service = await start();
    const gone = new Promise((resolve) => service.child.once("exit", resolve));
    const old = await share(v1);
    const newer = await share(v3);
    await stage.linked(2, 20_000);
    const log = () => readFileSync(join(stage.paths.logDir, "hub.log"), "utf8");
    await expect.poll(log, { timeout: 10_000 }).toContain('"why":"supervised"');
    expect((await stage.hubInfo())?.pid).toBe(service.child.pid);
    point(v3);
    newer.editor.close();
    const again = await share(v3);
    // The unit's RestartForceExitStatus: systemd and launchd start it again.
    expect(await gone).toBe(75);
    const next = await start();
    expect(await hubOf("1.1.0")).toMatchObject({ pid: next.child.pid });
    await stage.linked(2, 20_000);
    for (const { editor, sessionId } of [old, again])
      expect(await editor.call("session/prompt", textPrompt(sessionId, "hi"))).toEqual({ stopReason: "end_turn" });
    // Whatever bridges started in the gap has made room for the service.
    expect(await until(() => hubsOf(stage).length === 1, 10_000)).toBe(true);
    expect(hubsOf(stage)).toEqual([next.child.pid]);
  });

  it("C1.service a service that starts takes the place of a hub a bridge started, and stands by behind a newer one", async () => {
    const { editor, sessionId } = await share(v1);
    await stage.linked(1, 20_000);
    const bridges = await hubOf("1.0.0");
    const service = await stage.home.serve(["--supervised"], v1);
    expect(isRunning(bridges.pid)).toBe(false);
    expect(await hubOf("1.0.0")).toMatchObject({ pid: service.child.pid });
    await stage.linked(1, 10_000);
    const ended = new Promise((resolve) => service.child.once("exit", resolve));
    service.child.kill("SIGTERM");
    await ended;
    await share(v3);
    const newer = await hubOf("1.1.0");
    const standing = stage.home.spawnCommand(process.execPath, [v1, "serve", "--supervised", "--port", "0"]);
    const log = () => readFileSync(join(stage.paths.logDir, "hub.log"), "utf8");
    await expect.poll(log, { timeout: 10_000 }).toContain("a newer hub runs: standing by");
    expect(standing.exitCode).toBe(null);
    expect(await hubOf("1.1.0")).toMatchObject({ pid: newer.pid });
    expect(await editor.call("session/prompt", textPrompt(sessionId, "hi"))).toEqual({ stopReason: "end_turn" });
  });

  it("L2 a database of a newer version is refused in words by an older hub, whoever starts it, and stays as it is", async () => {
    await (await stage.home.serve([], v3)).child.kill();
    await expect.poll(() => hubsOf(stage)).toEqual([]);
    const database = openDatabase(stage.paths.database);
    database.exec("PRAGMA user_version = 99");
    database.close();
    const before = readFileSync(stage.paths.database);
    const serve = stage.home.spawnCommand(process.execPath, [v1, "serve", "--port", "0"]);
    let words = "";
    serve.stderr?.on("data", (chunk: Buffer) => {
      words += chunk.toString("utf8");
    });
    expect(await new Promise((resolve) => serve.once("close", resolve))).toBe(1);
    expect(words).toContain("was written by a newer acp-hub");
    const { editor, sessionId } = await share(v1);
    const log = () => readFileSync(join(stage.paths.logDir, "hub.log"), "utf8");
    await expect.poll(log, { timeout: 10_000 }).toContain('"msg":"the hub could not start"');
    expect(await editor.call("session/prompt", textPrompt(sessionId, "hi"))).toEqual({ stopReason: "end_turn" });
    expect(readFileSync(stage.paths.database)).toEqual(before);
    const { stdout } = await stage.home.run(["doctor", "--json"]);
    expect(stdout).toContain("the database is of a newer acp-hub");
  });
});
