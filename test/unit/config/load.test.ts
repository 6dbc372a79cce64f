import { describe, expect, test } from "vitest";
import { DEFAULT_CONFIG } from "../../../src/config/config.ts";
import { ConfigError, type LoadedConfig, type LoadOptions, loadConfig } from "../../../src/config/load.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";

interface Given {
  readonly file?: string | object;
  readonly env?: Record<string, string>;
  readonly flags?: LoadOptions["flags"];
}

function load({ file, env = {}, flags = {} }: Given): LoadedConfig {
  const text = file === undefined || typeof file === "string" ? file : JSON.stringify(file, null, 2);
  return loadConfig({ file: "config.json", env, flags, readFile: () => text });
}

function problemsOf(given: Given): readonly string[] {
  try {
    load(given);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

const shown = (loaded: LoadedConfig, key: string) => loaded.explained.find((entry) => entry.key === key);

describe("configuration", () => {
  test("C1.address, C6.limits without anything the defaults hold: loopback, port 8377, the listed limits", () => {
    const { config, warnings } = load({});
    expect(config).toEqual(DEFAULT_CONFIG);
    expect(config.host).toBe("127.0.0.1");
    expect(config.limits).toEqual(LIMITS);
    expect(warnings).toEqual([]);
  });

  test("C6.limits every limit can be configured, and what no limit can be is refused", () => {
    for (const [name, value] of Object.entries(LIMITS)) {
      const changed = load({ file: { limits: { [name]: value + 1_024 } } });
      expect(changed.config.limits).toEqual({ ...LIMITS, [name]: value + 1_024 });
      for (const bad of [0, -1, 1.5, "12", null]) {
        expect(problemsOf({ file: { limits: { [name]: bad } } }), name).toHaveLength(1);
      }
    }
  });

  test("C1.config a flag wins over the environment, that over the file, that over the default, and explain says so", () => {
    const file = '{\n  "host": "file",\n  "log": {\n    "level": "warn"\n  },\n  "port": 1\n}';
    const env = { ACP_HUB_HOST: "env", ACP_HUB_PORT: "2" };
    const loaded = load({ file, env, flags: { host: "flag", "log.level": undefined } });
    expect(loaded.config).toMatchObject({ host: "flag", port: 2, log: { level: "warn" } });
    expect(shown(loaded, "host")).toEqual({ key: "host", value: "flag", source: "flag", from: "--host" });
    expect(shown(loaded, "port")).toEqual({ key: "port", value: 2, source: "environment", from: "ACP_HUB_PORT" });
    expect(shown(loaded, "log.level")).toEqual({
      key: "log.level",
      value: "warn",
      source: "file",
      from: "config.json:4",
    });
    expect(shown(loaded, "basePath")).toEqual({ key: "basePath", value: "", source: "default" });
    expect(shown(loaded, "publicUrl")).toEqual({ key: "publicUrl", value: undefined, source: "default" });
  });

  test("C1.config every kind of value can come from the environment", () => {
    const { config } = load({
      env: {
        ACP_HUB_HTTP_ORIGINS: "https://a.example, https://b.example",
        ACP_HUB_TLS_SELF_SIGNED: "yes",
        ACP_HUB_AUTOSTART: "0",
        ACP_HUB_LIMITS_REMOTE_FRAME_BYTES: "2048",
        ACP_HUB_AGENTS: '{"x":{"command":"x-acp"}}',
        ACP_HUB_CREATE_ROOTS: "",
      },
    });
    expect(config.http.origins).toEqual(["https://a.example", "https://b.example"]);
    expect(config).toMatchObject({ tls: { selfSigned: true }, autostart: false, limits: { remoteFrameBytes: 2_048 } });
    expect(config.agents).toEqual({ x: { command: "x-acp", args: [], env: {} } });
    expect(config.create.roots).toEqual([]);
  });

  test("C1.config a wrong variable is named, and a mistyped one is not silently nothing", () => {
    expect(problemsOf({ env: { ACP_HUB_PORT: "http", ACP_HUB_AUTOSTART: "maybe", ACP_HUB_AGENTS: "{" } })).toEqual([
      "ACP_HUB_PORT must be a whole number",
      "ACP_HUB_AGENTS must be JSON",
      "ACP_HUB_AUTOSTART must be true or false",
    ]);
    expect(problemsOf({ env: { ACP_HUB_PORT: "70000" } })).toEqual([expect.stringMatching(/^ACP_HUB_PORT .*65535/)]);
    expect(problemsOf({ flags: { port: -1 } })).toEqual([expect.stringMatching(/^--port /)]);
    expect(
      load({ env: { ACP_HUB_PROT: "1", ACP_HUB_HOME: "/x", ACP_HUB_NO_AUTOSTART: "1", PATH: "/bin" } }).warnings,
    ).toEqual(["ACP_HUB_PROT is not known and is ignored"]);
  });

  test("C1.config comments and trailing commas are fine, and a mistake is found on its line", () => {
    expect(load({ file: '// top\n{\n  "port": 9, /* here */\n}\n' }).config.port).toBe(9);
    expect(load({ file: "" }).config).toEqual(DEFAULT_CONFIG);
    expect(problemsOf({ file: '{\n  "port": 9\n  "host": "x"\n}' })).toEqual(['config.json:3 needs a "," here']);
    expect(problemsOf({ file: "{\n  port: 9\n}" })[0]).toMatch(/^config\.json:2 /);
    expect(problemsOf({ file: "[1]" })).toEqual(["config.json:1 must hold an object: { … }"]);
    expect(problemsOf({ file: '{ "port": 9' })[0]).toMatch(/^config\.json:1 is missing a "}"/);
  });

  test("C1.config a wrong value is named by line and key, all of them at once", () => {
    const file =
      '{\n  "port": "8377",\n  "http": {\n    "origins": ["https://ok.example", "https://no.example/path"]\n  },\n  "create": { "roots": ["relative"] }\n}';
    expect(problemsOf({ file })).toEqual([
      "config.json:2 port expected number, received string",
      expect.stringMatching(/^config\.json:4 http\.origins\[1\] must be an origin/),
      "config.json:6 create.roots[0] must be an absolute path",
    ]);
  });

  test("C1.config beside a wrong value the unknown keys are named too: a mistyped name is why another is missing", () => {
    expect(problemsOf({ file: '{\n  "prot": 1,\n  "agents": {\n    "x": { "cmd": "y" }\n  }\n}' })).toEqual([
      expect.stringMatching(/^config\.json:4 agents\.x\.command expected string/),
      "config.json:4 agents.x.cmd is not known",
      "config.json:2 prot is not known",
    ]);
  });

  test("C1.config publicUrl and basePath that do not fit are said before anything listens", () => {
    const paths = (publicUrl: string, basePath: string): readonly string[] =>
      load({ file: { publicUrl, basePath } }).warnings;
    expect(paths("https://a.example", "/hub")).toEqual([
      'publicUrl has the path "" but basePath is "/hub": make them the same',
    ]);
    expect(paths("https://a.example/x", "")).toHaveLength(1);
    expect(paths("https://a.example/hub/", "/hub")).toEqual([]);
    expect(paths("https://a.example/", "")).toEqual([]);
  });

  test("C1.config unknown keys are named with their line and left out, deep ones too", () => {
    const file =
      '{\n  "prot": 1,\n  "http": {\n    "orign": []\n  },\n  "agents": { "x": { "command": "x", "cmd": "y" } },\n  "externalIssuers": [{ "issuer": "i", "audience": "a", "jwksUrl": "https://i.example/k", "presets": {}, "fallback": "viewer", "x": 1 }]\n}';
    const { config, warnings } = load({ file });
    expect([...warnings].sort()).toEqual([
      "config.json:2 prot is not known and is ignored",
      "config.json:4 http.orign is not known and is ignored",
      "config.json:6 agents.x.cmd is not known and is ignored",
      "config.json:7 externalIssuers[0].x is not known and is ignored",
    ]);
    expect(config.agents["x"]?.command).toBe("x");
    expect(config.externalIssuers).toHaveLength(1);
  });

  test("C1.config a name given twice is pointed out", () => {
    const loaded = load({ file: '{\n  "port": 1,\n  "port": 2\n}' });
    expect([loaded.config.port, loaded.warnings]).toEqual([
      2,
      ['config.json:3 "port" is given twice; the last one counts'],
    ]);
  });

  test("names such as __proto__ and constructor are plain keys", () => {
    const file =
      '{ "__proto__": { "host": "0.0.0.0" }, "constructor": 1, "agents": { "a": { "command": "x", "__proto__": {} } } }';
    const { config, warnings } = load({ file });
    expect(config.host).toBe("127.0.0.1");
    expect(warnings.length).toBeGreaterThanOrEqual(2);
    expect(({} as Record<string, unknown>)["host"]).toBeUndefined();
  });

  test("incidents 2 and 21: a hub the network can read is pointed out, and a covered one is not", () => {
    const exposed = /exposes the hub to the network without encryption/;
    for (const host of ["0.0.0.0", "::", "192.168.1.5", "my-laptop.local"]) {
      expect(load({ flags: { host } }).warnings, host).toEqual([expect.stringMatching(exposed)]);
    }
    for (const host of ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
      expect(load({ flags: { host } }).warnings).toEqual([]);
    expect(load({ file: { host: "0.0.0.0", tls: { selfSigned: true } } }).warnings).toEqual([]);
    expect(load({ file: { host: "0.0.0.0", publicUrl: "https://hub.example" } }).warnings).toEqual([]);
    expect(load({ file: { publicUrl: "http://hub.example" } }).warnings).toEqual([expect.stringMatching(/plain http/)]);
  });

  test("C1.config combinations that cannot work are refused", () => {
    const cases: readonly (readonly [object, RegExp])[] = [
      [{ tls: { cert: "/c" } }, /tls\.cert needs tls\.key/],
      [{ tls: { key: "/k" } }, /tls\.key needs tls\.cert/],
      [{ tls: { cert: "/c", key: "/k", selfSigned: true } }, /exclude each other/],
      [{ publicUrl: "ftp://hub.example" }, /http or https/],
      [{ publicUrl: "https://user:pw@hub.example" }, /no user name or password/],
      [{ publicUrl: "https://hub.example/?token=x" }, /no "\?"/],
      [{ basePath: "/hub/" }, /must be empty or start/],
      [{ host: "http://x" }, /host must be an address or a name/],
      [{ http: { origins: ["*"] } }, /must be an origin/],
      [{ http: { origins: ["null"] } }, /must be an origin/],
      [{ http: { hosts: ["hub.example:8377"] } }, /without scheme and port/],
      [{ trustedProxies: ["proxy"] }, /must be an IP address/],
      [{ limits: { outboxSoftBytes: 99_999_999 } }, /outboxSoftBytes must not be over/],
      [{ limits: { connectionsPerDevice: 9_999 } }, /connectionsPerDevice must not be over/],
      [{ limits: { agentLineBytes: 268_435_457 } }, /agentLineBytes must not be over/],
      [{ journal: { maxBytes: 2_048 } }, /journalBytes .* must not be over/],
      [{ interactions: { timeoutMs: 10 } }, /timeoutMs/],
      [{ capabilities: { forms: "some" } }, /capabilities\.forms/],
      [{ agents: { "a b": { command: "x" } } }, /agents/],
      [{ externalIssuers: [issuer({ jwksUrl: "http://i.example/k" })] }, /must come over https/],
      [{ externalIssuers: [issuer(), issuer()] }, /twice/],
      [{ externalIssuers: [issuer({ presets: { x: "root" } })] }, /presets/],
    ];
    for (const [file, words] of cases) {
      const problems = problemsOf({ file });
      expect(problems, JSON.stringify(file)).toHaveLength(1);
      expect(problems[0]).toMatch(words);
    }
  });

  test("what works but surely is not meant is pointed out", () => {
    const { warnings } = load({
      file: {
        agents: { zcode: { command: "x" } },
        create: { roots: ["/"] },
        externalIssuers: [issuer({ presets: {} })],
      },
    });
    expect(warnings).toEqual([
      expect.stringMatching(/agents\.zcode is never used/),
      expect.stringMatching(/start agents anywhere/),
      expect.stringMatching(/gives nobody any rights/),
    ]);
  });

  test("C1.config explain shows no secrets", () => {
    const loaded = load({
      file: {
        agents: { a: { command: "x", env: { API_KEY: "s3cret", HOME: "s3cret" } } },
        remote: {
          mcpServers: { m: { url: "https://m.example", headers: [{ name: "Authorization", value: "s3cret" }] } },
        },
        zcode: { remoteToken: "s3cret", nested: { password: "s3cret" }, model: "glm" },
      },
    });
    expect(JSON.stringify(loaded.explained)).not.toContain("s3cret");
    expect(shown(loaded, "zcode")?.value).toEqual({
      remoteToken: "(hidden)",
      nested: { password: "(hidden)" },
      model: "glm",
    });
    expect(loaded.config.agents["a"]?.env["API_KEY"]).toBe("s3cret");
  });
});

function issuer(over: object = {}): object {
  return { issuer: "i", audience: "a", jwksUrl: "https://i.example/k", presets: { x: "viewer" }, ...over };
}
