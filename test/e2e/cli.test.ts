import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSession, Stage, scripted, textPrompt } from "../support/stage.ts";

describe("the command line without a hub", () => {
  const stage = new Stage();
  const run = (...args: string[]) => stage.home.run(args, { ACP_HUB_NO_AUTOSTART: "1" });
  afterAll(() => stage.end());

  it("contract 1 says what is wrong and how it is used, with exit 2 and nothing on stdout", async () => {
    const wrong: [string[], RegExp][] = [
      [[], /Usage: acp-hub <command>/],
      [["frobnicate"], /no command "frobnicate"/],
      [["serve", "--port", "99999"], /--port takes a whole number from 0 to 65535/],
      [["serve", "extra"], /serve takes no "extra"/],
      [["serve", "--bogus"], /--bogus[\s\S]*Usage: acp-hub serve/],
      [["bridge"], /Name the agent to run/],
      [["bridge", "--"], /command after --/],
      [["bridge", "demo", "--", "x"], /not both/],
      [["token", "create", "--scope", "driver"], /create needs --scope and --name/],
      [["token"], /Say create, list or revoke/],
      [["watch"], /Name the session/],
      [["watch", "s1", "s2"], /watch takes no "s2"/],
      [["ls", "here"], /ls takes no "here"/],
      [["pair", "--scope", "boss"], /--scope takes viewer.*not "boss"/],
      [["sessions", "--state", "asleep"], /--state takes live.*not "asleep"/],
      [["devices", "revoke"], /Name the device/],
    ];
    const results = await Promise.all(wrong.map(([args]) => run(...args)));
    for (const [index, { code, stdout, stderr }] of results.entries()) {
      const [args, words] = wrong[index] ?? [[], /./];
      expect([args, code, stdout]).toEqual([args, 2, ""]);
      expect(stderr).toMatch(words);
    }
  });

  it("contract 1 exits 3 when no hub answers, and says how to start one", async () => {
    const commands = [["ls"], ["status"], ["stop"], ["watch", "s1"], ["pair"]];
    for (const { code, stdout, stderr } of await Promise.all(commands.map((args) => run(...args)))) {
      expect([code, stdout]).toEqual([3, ""]);
      expect(stderr).toMatch(/acp-hub serve|[Nn]o hub is running/);
    }
    const { code, stdout } = await run("status", "--json");
    expect([code, JSON.parse(stdout)]).toEqual([3, { running: false }]);
  });

  it("contract 1 --help and --version are data, with exit 0", async () => {
    const [help, version, own] = await Promise.all([run("--help"), run("--version"), run("bridge", "--help")]);
    expect([help?.code, version?.code, own?.code]).toEqual([0, 0, 0]);
    expect(help?.stdout).toContain("bridge");
    expect(version?.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(own?.stdout).toContain("--no-share");
  });

  it("contract 1 token works without a hub: created, listed, revoked, for the hub that starts next", async () => {
    const made = await run("token", "create", "--scope", "driver", "--name", "offline");
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+\n$/) });
    const listed = JSON.parse((await run("token", "list", "--json")).stdout) as { deviceId: string; name: string }[];
    expect(listed).toMatchObject([{ name: "offline", kind: "script", scope: "driver" }]);
    expect((await run("token", "revoke", listed[0]?.deviceId ?? "")).code).toBe(0);
    expect(JSON.parse((await run("token", "list", "--json")).stdout)).toEqual([]);
    expect((await run("token", "create", "--scope", "emperor", "--name", "x")).code).not.toBe(0);
  });
});

describe("the command line beside a hub", () => {
  const stage = new Stage();
  const run = (...args: string[]) => stage.home.run(args);
  let hub: Awaited<ReturnType<Stage["serve"]>>;
  beforeAll(async () => {
    hub = await stage.serve();
  });
  afterAll(() => stage.end());

  it("contract 1 ls and status tell people and programs the same", async () => {
    const { sessionId, editor, child } = await stage.share({ turns: [[{ say: "ok" }]] }, ["--name", "my editor"]);
    await editor.call("session/prompt", textPrompt(sessionId, "First words of it"));
    await stage.linked();
    const [json, text, status, statusText] = await Promise.all([
      run("ls", "--json"),
      run("ls"),
      run("status", "--json"),
      run("status"),
    ]);
    const instances = JSON.parse(json?.stdout ?? "[]") as unknown[];
    expect(instances).toMatchObject([
      {
        pid: child.pid,
        name: "my editor",
        origin: "editor",
        state: "up",
        agent: { name: "scripted", version: "1.0.0" },
        sessions: [{ sessionId, title: "First words of it", cwd: "/", status: "idle", openInteractions: 0 }],
      },
    ]);
    expect(text?.stdout).toContain("First words of it");
    expect(JSON.parse(status?.stdout ?? "{}")).toMatchObject({
      running: true,
      ready: true,
      url: stage.url,
      exposed: false,
      pid: hub.child.pid,
      instances: 1,
    });
    expect(statusText?.stdout).toContain(stage.url);
    // In a minute at most, of a hub that these tests started; of its own API the same.
    expect(statusText?.stdout).toMatch(/started (\d+s ago|1m ago)/);
    const { startedAt } = (await stage.api("GET", "/api/hub")).body as { startedAt: number };
    expect(Math.abs(Date.now() - startedAt)).toBeLessThan(120_000);
    editor.close();
  });

  it("C1.drive ls says for how long a turn runs, and a title moves no cursor", async () => {
    const { sessionId, editor } = await stage.share({ sessionIds: ["busy"], turns: [[{ never: true }]] });
    void editor.call("session/prompt", textPrompt(sessionId, "work\u001b[2J")).catch(() => undefined);
    await expect
      .poll(async () => (await run("ls")).stdout, { timeout: 10_000 })
      .toMatch(/ busy {2}work\\x1b\[2J {2}running \d+s, /);
    editor.close();
  });

  it("contract 1 watch streams a session as it runs, to people and as JSON lines", async () => {
    const { sessionId, editor } = await stage.share({
      sessionIds: ["watched"],
      turns: [[{ say: "Watched " }, { ask: true }, { say: "words\u001b[2J" }]],
    });
    await editor.call("initialize", { protocolVersion: 1, clientCapabilities: {} });
    await expect.poll(async () => (await stage.instances()).length).toBeGreaterThan(0);
    const watching = stage.home.spawn(["watch", sessionId]);
    let shown = "";
    watching.stdout?.on("data", (chunk: Buffer) => {
      shown += chunk.toString("utf8");
    });
    const turn = editor.call("session/prompt", textPrompt(sessionId, "go on"));
    const asked = await editor.nextRequest("session/request_permission");
    await expect.poll(() => shown, { timeout: 10_000 }).toContain("Watched");
    const lines = stage.home.spawn(["watch", sessionId, "--json", "--until-idle"]);
    const output = (async () => {
      let text = "";
      for await (const chunk of lines.stdout ?? []) text += String(chunk);
      return text;
    })();
    await expect
      .poll(async () => (await stage.instances()).flatMap(({ clients }) => clients), { timeout: 5000 })
      .toContain(2);
    editor.answer(asked.id, { outcome: { outcome: "selected", optionId: "allow" } });
    await turn;
    await expect.poll(() => shown).toContain("words\\x1b[2J");
    expect(shown).toContain("> go on");
    const parsed = (await output)
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { method: string });
    expect(parsed.at(-1)).toMatchObject({ method: "_acp-hub/turn", params: { state: "idle", stopReason: "end_turn" } });
    const closed = new Promise((resolve) => watching.once("exit", resolve));
    watching.kill("SIGINT");
    expect(await closed).toBe(0);
    editor.close();
  });

  it("design 2 a second serve on the same home is refused with the pid of the first, exit 2", async () => {
    const { code, stderr } = await run("serve", "--port", "0");
    expect(code).toBe(2);
    expect(stderr).toContain(`pid ${hub.child.pid}`);
    expect((await run("status")).code).toBe(0);
  });

  it("contract 1 a taken port is told with its owner, exit 2, and nothing is left behind", async () => {
    const other = new Stage();
    const server = createServer();
    const port = await new Promise<number>((resolve) =>
      server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port)),
    );
    const { code, stderr } = await other.home.run(["serve", "--port", String(port)]);
    expect(code).toBe(2);
    expect(stderr).toContain(`Port ${port} on 127.0.0.1 is taken by`);
    expect(stderr).toContain(`pid ${process.pid}`);
    server.close();
    await other.serve(["--port", String(port)]);
    await other.end();
  });

  it("contract 1 contract 2 files are 0600 and directories 0700, sockets included", async () => {
    const { paths } = stage;
    const { editor } = stage.home.bridge(scripted());
    await editor.initialize({});
    await expect.poll(() => existsSync(join(paths.logDir, "bridge.log")), { timeout: 5000 }).toBe(true);
    const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);
    for (const dir of [stage.home.dir, paths.keysDir, paths.runDir, paths.logDir])
      expect([dir, mode(dir)]).toEqual([dir, "700"]);
    const files = [
      paths.database,
      `${paths.database}-wal`,
      paths.linkSocket,
      paths.apiSocket,
      paths.hubInfo,
      join(paths.logDir, "hub.log"),
      join(paths.logDir, "bridge.log"),
    ];
    for (const file of files) expect([file, mode(file)]).toEqual([file, "600"]);
    editor.close();
  });

  it("contract 2 no log holds a token, a pairing code or anything that was said", async () => {
    const token = (await run("token", "create", "--scope", "driver", "--name", "logged", "--query")).stdout.trim();
    const { code, url } = JSON.parse((await run("pair", "--json")).stdout) as { code: string; url: string };
    const { editor } = stage.home.bridge(scripted({ turns: [[{ say: "a-secret-answer" }, { ask: true }]] }));
    const sessionId = await openSession(editor);
    const id = (await stage.linked())[0]?.id;
    const { connectClient } = await import("../support/raw-client.ts");
    const remote = await connectClient(`${stage.acp(`?instance=${id}`)}&token=${token}`, token);
    await remote.initialize();
    await fetch(`${stage.url}/api/pair`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code: "WRON-GONE", name: "nobody" }),
    });
    await remote.call("session/load", { sessionId, cwd: "/", mcpServers: [] });
    const turn = remote.call("session/prompt", textPrompt(sessionId, "a-secret-question"));
    const asked = await editor.nextRequest("session/request_permission");
    editor.answer(asked.id, { outcome: { outcome: "selected", optionId: "allow" } });
    await turn;
    remote.close();
    editor.close();
    await expect.poll(() => readFileSync(join(stage.paths.logDir, "hub.log"), "utf8")).toContain("interaction settled");
    const logs = ["hub.log", "bridge.log"]
      .map((name) => readFileSync(join(stage.paths.logDir, name), "utf8"))
      .join("\n");
    const secrets = [
      token,
      token.split(".")[2] ?? "",
      code,
      url.split("#pair=")[1] ?? "",
      "WRON-GONE",
      "a-secret-question",
      "a-secret-answer",
    ];
    for (const secret of secrets) expect(logs.includes(secret)).toBe(false);
  });

  it("contract 2 contract 3 revoking a token ends its sockets with 4401 at once, and for ever", async () => {
    const token = (await run("token", "create", "--scope", "viewer", "--name", "short-lived")).stdout.trim();
    const { connectClient } = await import("../support/raw-client.ts");
    const remote = await connectClient(stage.acp(), token);
    await remote.initialize();
    const listed = JSON.parse((await run("token", "list", "--json")).stdout) as { deviceId: string; name: string }[];
    const { deviceId } = listed.find(({ name }) => name === "short-lived") ?? { deviceId: "" };
    expect((await stage.api("DELETE", `/api/devices/${deviceId}`)).status).toBe(204);
    await expect.poll(() => remote.closed?.code, { timeout: 5000, interval: 10 }).toBe(4401);
    await expect(connectClient(stage.acp(), token)).rejects.toThrow("401");
    hub.child.kill("SIGKILL");
    await new Promise((resolve) => hub.child.once("exit", resolve));
    hub = await stage.serve();
    await expect(connectClient(stage.acp(), token)).rejects.toThrow("401");
  });

  it("contract 1 stop ends the hub and nothing else", async () => {
    const { editor, sessionId } = await stage.share({ turns: [[{ say: "still here" }]] });
    await stage.linked();
    const stopped = await run("stop");
    expect(stopped).toMatchObject({ code: 0, stdout: "" });
    expect(hub.child.exitCode).toBe(0);
    expect(await editor.call("session/prompt", textPrompt(sessionId, "go"))).toEqual({ stopReason: "end_turn" });
    expect(await run("stop")).toMatchObject({ code: 3 });
  });
});
