import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/protocol/json.ts";
import { isRunning } from "../support/processes.ts";
import { Stage, scripted, textPrompt, until } from "../support/stage.ts";
import { ZcodeStage } from "../support/zcode-stage.ts";

const WAIT = { timeout: 10_000 };

describe("instances a remote client starts", () => {
  const stage = new Stage();
  const root = join(stage.home.dir, "projects");
  beforeAll(async () => {
    for (const name of ["one", "two", "three"]) mkdirSync(join(root, name), { recursive: true });
    symlinkSync(join(root, "one"), join(root, "alias"));
    symlinkSync("/", join(root, "out"));
    const [, command, ...args] = scripted({ turns: [[{ say: "I am alone." }]] });
    const agents = { mine: { command, args } };
    const config = { agents, create: { roots: [root] }, limits: { headlessMax: 2 } };
    writeFileSync(stage.paths.configFile, JSON.stringify(config), { mode: 0o600 });
    await stage.serve();
  });
  afterAll(() => stage.end());

  const start = async (workspacePath: string, agent = "mine"): Promise<JsonObject & { status: number }> => {
    const { status, body } = await stage.api("POST", "/api/instances", { workspacePath, agent });
    return { status, ...(body as JsonObject) };
  };

  it("C3.instances rows 137 138: asked for twice at once, by two names of one directory, it is started once and is the one that answers", async () => {
    const [first, second, other] = await Promise.all([
      start(join(root, "one")),
      start(join(root, "alias")),
      start(join(root, "two")),
    ]);
    expect(first).toMatchObject({ status: 201, reused: false });
    expect(second).toMatchObject({ status: 201, id: first["id"] });
    expect(other).toMatchObject({ status: 201, reused: false });
    expect(other["id"]).not.toBe(first["id"]);
    const listed = await stage.linked(2);
    expect(listed.map(({ id, workspace, origin }) => ({ id, workspace, origin }))).toEqual(
      expect.arrayContaining([
        { id: first["id"], workspace: join(root, "one"), origin: "headless" },
        { id: other["id"], workspace: join(root, "two"), origin: "headless" },
      ]),
    );
    expect(await start(join(root, "one"))).toMatchObject({ status: 201, id: first["id"], reused: true });

    const client = await stage.client("owner", `?instance=${first["id"]}`);
    const { sessionId } = await client.call("session/new", { cwd: join(root, "one"), mcpServers: [] });
    await client.call("session/prompt", textPrompt(String(sessionId), "who is there?"));
    await expect.poll(() => client.textOf("agent_message_chunk"), WAIT).toBe("I am alone.");
  });

  it("C6.limits one more than limits.headlessMax is refused by the name of the limit, one that runs is given all the same", async () => {
    const refused = await start(join(root, "three"));
    expect(refused).toMatchObject({
      status: 429,
      code: "too-many",
      detail: expect.stringContaining("limits.headlessMax"),
    });
    expect(await start(join(root, "two"))).toMatchObject({ status: 201, reused: true });
    await stage.linked(2);
  });

  it("C3.instances refuses what lies outside the roots, links followed, and agents nobody configured", async () => {
    for (const path of ["/", join(root, ".."), join(root, "out"), join(root, "nosuch"), "relative"])
      expect(await start(path)).toMatchObject({ status: 403, code: "outside" });
    expect(await start(join(root, "two"), "nosuch")).toMatchObject({ status: 403, code: "no-profile" });
  });

  it("C3.instances ends one, and never an editor's", async () => {
    const { child } = await stage.share();
    const editors = (await stage.linked(3)).find(({ origin }) => origin === "editor");
    expect((await stage.api("DELETE", `/api/instances/${editors?.id}`)).status).toBe(403);
    expect(child.exitCode).toBeNull();
    const { id } = await start(join(root, "two"));
    const pid = (await stage.instances()).find((each) => each.id === id)?.pid ?? 0;
    expect((await stage.api("DELETE", `/api/instances/${id}`)).status).toBe(204);
    expect(await until(() => !isRunning(pid), 5000)).toBe(true);
    await stage.linked(2);
  });
});

describe("built-in agents a remote client starts", () => {
  const stage = new ZcodeStage({});
  beforeAll(async () => {
    writeFileSync(stage.paths.configFile, JSON.stringify({ create: { roots: [stage.project] } }), { mode: 0o600 });
    await stage.serve([], { ZCODE_BIN: stage.fake.bin, ...stage.fake.env });
  });
  afterAll(() => stage.end());

  /** Starts one and prompts it from afar. */
  const said = async (agent: string | undefined): Promise<string> => {
    const body = { workspacePath: stage.project, ...(agent !== undefined && { agent }) };
    const answer = await stage.api("POST", "/api/instances", body);
    expect([agent, answer.status]).toEqual([agent, 201]);
    const client = await stage.client("owner", `?instance=${(answer.body as JsonObject)["id"]}`);
    const { sessionId } = await client.call("session/new", { cwd: stage.project, mcpServers: [] });
    await client.call("session/prompt", textPrompt(String(sessionId), "hello"));
    await expect.poll(() => client.textOf("agent_message_chunk"), WAIT).not.toBe("");
    return client.textOf("agent_message_chunk");
  };

  it("C3.instances zcode and demo need no configuration, and zcode is what starts where nothing is named", async () => {
    expect(await said(undefined)).toBe("echo: hello");
    const names = (await stage.linked(1)).map(({ name }) => name);
    expect(names).toEqual(["zcode"]);
    expect(await said("demo")).not.toBe("");
    const refused = await stage.api("POST", "/api/instances", { workspacePath: "/", agent: "demo" });
    expect(refused).toMatchObject({ status: 403, body: { code: "outside" } });
  });

  it("C3.instances not without the scope for it", async () => {
    const token = await stage.home.token("driver");
    const body = JSON.stringify({ workspacePath: stage.project, agent: "demo" });
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const answer = await fetch(`${stage.url}/api/instances`, { method: "POST", headers, body });
    expect([answer.status, ((await answer.json()) as JsonObject)["code"]]).toEqual([403, "missing-scope"]);
  });
});
