import { describe, expect, it } from "vitest";
import { agentEntry } from "../../../../src/cli/setup/agent-entry.ts";
import { EDITORS } from "../../../../src/cli/setup/editors.ts";

const base = { node: "/usr/bin/node", script: "/opt/acp-hub/main.js", home: undefined, name: undefined };

describe("an editor's agent entry", () => {
  it("runs this acp-hub by absolute paths, with a profile", () => {
    expect(agentEntry({ ...base, agent: { profile: "zcode" } })).toEqual({
      name: "zcode via acp-hub",
      command: "/usr/bin/node",
      args: ["/opt/acp-hub/main.js", "bridge", "zcode"],
    });
  });

  it("hands an agent's own command over after --, the home before it", () => {
    const agent = { command: ["/opt/bin/some-agent", "--acp"] as [string, ...string[]] };
    expect(agentEntry({ ...base, home: "/h", agent })).toEqual({
      name: "some-agent via acp-hub",
      command: "/usr/bin/node",
      args: ["/opt/acp-hub/main.js", "bridge", "--home", "/h", "--", "/opt/bin/some-agent", "--acp"],
    });
    expect(agentEntry({ ...base, name: "mine", agent }).name).toBe("mine");
  });

  it("is found in each editor's own shape", () => {
    const entry = agentEntry({ ...base, agent: { profile: "demo" } });
    const { command, args } = entry;
    const snippet = (id: string) => EDITORS.get(id)?.snippet(entry) ?? "";
    expect(JSON.parse(snippet("zed"))).toEqual({
      agent_servers: { "demo via acp-hub": { type: "custom", command, args, env: {} } },
    });
    expect(JSON.parse(snippet("jetbrains"))).toEqual({ agent_servers: { "demo via acp-hub": { command, args } } });
    expect(JSON.parse(snippet("vscode"))).toEqual({ "acp.agents": { "demo via acp-hub": { command, args } } });
    expect(JSON.parse(snippet("other"))).toEqual({ command, args });
    expect(snippet("neovim")).toContain('args = { "/opt/acp-hub/main.js", "bridge", "demo" }');
  });

  it("goes where the editor looks on each system", () => {
    const file = (id: string, platform: NodeJS.Platform, env = {}) =>
      EDITORS.get(id)?.settings?.file({ platform, home: "/home/me", env });
    expect(file("zed", "linux")).toBe("/home/me/.config/zed/settings.json");
    expect(file("zed", "linux", { XDG_CONFIG_HOME: "/x" })).toBe("/x/zed/settings.json");
    expect(file("zed", "darwin", { XDG_CONFIG_HOME: "/x" })).toBe("/home/me/.config/zed/settings.json");
    expect(file("jetbrains", "darwin")).toBe("/home/me/.jetbrains/acp.json");
    expect(file("vscode", "linux")).toBeUndefined();
  });
});
