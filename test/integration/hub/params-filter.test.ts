import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ParamsVerdict } from "../../../src/core/mirror/gate.ts";
import { paramsFilters, type RemoteRules } from "../../../src/hub/params-filter.ts";
import type { JsonObject } from "../../../src/protocol/json.ts";
import type { LinkHello } from "../../../src/protocol/link.ts";
import { PRESETS, type Preset } from "../../../src/protocol/scopes.ts";

describe("parameters of a remote session", () => {
  let base: string;
  beforeEach(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), "acp-hub-params-")));
    for (const dir of ["work/src", "roots/app", "roots/work", "outside/secret", "workshop"])
      mkdirSync(join(base, dir), { recursive: true });
    symlinkSync(join(base, "outside"), join(base, "work/link"));
    symlinkSync(join(base, "work"), join(base, "alias"));
    writeFileSync(join(base, "work/file.txt"), "");
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));

  const judge = (
    params: JsonObject,
    options: { rules?: Partial<RemoteRules>; preset?: Preset; workspace?: string; method?: string } = {},
  ): ParamsVerdict => {
    const rules: RemoteRules = {
      createRoots: [join(base, "roots")],
      remoteMcpServers: {},
      metaKeys: [],
      ...options.rules,
    };
    const hello = { workspace: options.workspace ?? join(base, "work") } as LinkHello;
    return paramsFilters(rules)({ hello })(
      options.method ?? "session/new",
      params,
      new Set(PRESETS[options.preset ?? "driver"]),
    );
  };
  const passed = (verdict: ParamsVerdict): JsonObject => {
    if (!verdict.ok) throw new Error(verdict.error.message);
    return verdict.params;
  };
  const refusedField = (verdict: ParamsVerdict): unknown =>
    verdict.ok ? "passed" : [verdict.error.code, (verdict.error.data as JsonObject)["field"]];

  it.each(["session/new", "session/load", "session/resume", "session/fork"])(
    "C2.parameters %s keeps a directory inside the workspace or a create root as the client named it",
    (method) => {
      for (const dir of ["work", "work/src", "roots", "roots/app", "work/file.txt"]) {
        const params = { cwd: join(base, dir), additionalDirectories: [join(base, "roots/app")], mcpServers: [] };
        expect(judge(params, { method })).toEqual({ ok: true, params, ignored: [] });
      }
    },
  );

  it.each([
    ["outside"],
    ["workshop"],
    ["work/nothing-here"],
    ["work/../outside"],
    ["work/src/../src"],
    ["work/link/secret"],
    ["work\0/src"],
  ])("C2.parameters a cwd at %j is refused with -32003 naming the field", (dir) => {
    expect(refusedField(judge({ cwd: `${base}/${dir}` }))).toEqual([-32003, "cwd"]);
    const more = { cwd: join(base, "work"), additionalDirectories: [join(base, "work"), `${base}/${dir}`] };
    expect(refusedField(judge(more))).toEqual([-32003, "additionalDirectories"]);
  });

  it("C2.parameters a relative cwd is refused, for it means whatever directory the agent runs in", () => {
    expect(refusedField(judge({ cwd: "work" }))).toEqual([-32003, "cwd"]);
    expect(refusedField(judge({ cwd: "" }))).toEqual([-32003, "cwd"]);
  });

  it("C2.parameters a cwd that is no string is invalid, and a missing one is left to the agent", () => {
    expect(refusedField(judge({ cwd: 7 }))).toEqual([-32602, "cwd"]);
    expect(refusedField(judge({ additionalDirectories: "x" }))).toEqual([-32602, "additionalDirectories"]);
    expect(refusedField(judge({ additionalDirectories: [7] }))).toEqual([-32602, "additionalDirectories"]);
    expect(passed(judge({ mcpServers: [] }))).toEqual({ mcpServers: [] });
  });

  it("C2.parameters a link further down is followed before the agent hears of it, a root's own link is not", () => {
    symlinkSync(join(base, "roots/app"), join(base, "work/app"));
    expect(passed(judge({ cwd: join(base, "work/app") }))["cwd"]).toBe(join(base, "roots/app"));
    const workspace = join(base, "alias");
    expect(passed(judge({ cwd: join(base, "alias/src") }, { workspace }))["cwd"]).toBe(join(base, "alias/src"));
    expect(passed(judge({ cwd: join(base, "work/src") }, { workspace }))["cwd"]).toBe(join(base, "work/src"));
  });

  it("C2.parameters a workspace at the root of the file system opens nothing", () => {
    const rules = { createRoots: [] };
    expect(refusedField(judge({ cwd: base }, { workspace: "/", rules }))).toEqual([-32003, "cwd"]);
    expect(refusedField(judge({ cwd: "/" }, { workspace: "//", rules }))).toEqual([-32003, "cwd"]);
  });

  it("C2.parameters only named MCP servers pass, as the owner defined them, and the others are named", () => {
    const own = { command: "/usr/bin/docs", args: ["--stdio"], env: [] };
    const params = {
      cwd: join(base, "work"),
      mcpServers: [
        { name: "docs", command: "/bin/sh", args: ["-c", "anything"], env: [] },
        { name: "evil", command: "/bin/sh", args: [], env: [] },
        { name: "toString", type: "http", url: "http://127.0.0.1/", headers: [] },
        { command: "/bin/sh" },
        "docs",
      ],
    };
    const verdict = judge(params, { rules: { remoteMcpServers: { docs: own } } });
    expect(passed(verdict)["mcpServers"]).toEqual([{ ...own, name: "docs" }]);
    expect(verdict.ok && verdict.ignored).toEqual(["evil", "toString", "(unnamed)", "(unnamed)"]);
    expect(passed(judge({ mcpServers: { docs: own } }, { rules: { remoteMcpServers: { docs: own } } }))).toEqual({
      mcpServers: [],
    });
  });

  it("C2.parameters of _meta only our keys, the dialect's and the configured ones pass", () => {
    const _meta = { "acp-hub": { promptId: "p" }, zcode: { limit: 3 }, trace: "t", claudeCode: { options: {} } };
    const verdict = judge({ _meta }, { rules: { metaKeys: ["trace"] } });
    expect(passed(verdict)["_meta"]).toEqual({ "acp-hub": { promptId: "p" }, zcode: { limit: 3 }, trace: "t" });
    expect(verdict.ok && verdict.ignored).toEqual(["_meta.claudeCode"]);
    expect(passed(judge({ _meta: ["claudeCode"] }))).toEqual({});
  });

  it("C2.parameters members nobody knows pass, and the client's own object stays as it was", () => {
    const params = { cwd: join(base, "work"), mcpServers: [{ name: "evil" }], later: { x: 1 } };
    expect(passed(judge(params))).toEqual({ cwd: join(base, "work"), mcpServers: [], later: { x: 1 } });
    expect(params.mcpServers).toHaveLength(1);
  });

  it("C2.parameters an owner is not judged", () => {
    const params = { cwd: "/anywhere", mcpServers: [{ name: "own", command: "x" }], _meta: { claudeCode: {} } };
    expect(judge(params, { preset: "owner" })).toEqual({ ok: true, params, ignored: [] });
  });

  it("C2.parameters what is named of the ignored is bounded", () => {
    const mcpServers = Array.from({ length: 500 }, (_, index) => ({ name: `${index}`.padEnd(1000, "x") }));
    const verdict = judge({ mcpServers });
    expect(verdict.ok && verdict.ignored.length).toBe(64);
    expect(verdict.ok && verdict.ignored.every((name) => name.length <= 200)).toBe(true);
  });
});
