/** What is started, with what, and where the provider tables come from. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { launchEnv } from "../../../../../src/backends/zcode/options.ts";
import { resolveExecutable } from "../../../../../src/backends/zcode/process/executable.ts";
import { disallowedTools, planLaunch, zcodeHomeOf } from "../../../../../src/backends/zcode/process/launch.ts";
import { chooseNode } from "../../../../../src/backends/zcode/process/node-choice.ts";

const homes: string[] = [];
afterAll(() => {
  for (const home of homes) rmSync(home, { recursive: true, force: true });
});

function place(): { home: string; write(path: string, text: string): string } {
  const home = mkdtempSync(join(tmpdir(), "zcode-launch-"));
  homes.push(home);
  return {
    home,
    write(path, text) {
      const full = join(home, path);
      mkdirSync(dirname(full), { recursive: true });
      writeFileSync(full, text);
      return full;
    },
  };
}

const lookup = (over: Partial<Parameters<typeof resolveExecutable>[0]>) =>
  resolveExecutable({
    env: {},
    platform: "linux",
    home: "/home/me",
    isFile: () => false,
    onPath: () => undefined,
    ...over,
  });

test("the executable: variable, PATH, the app's script, the bare name", () => {
  expect(lookup({ env: { ZCODE_BIN: "/x/zcode" }, onPath: () => "/bin/zcode" })).toBe("/x/zcode");
  expect(lookup({ onPath: () => "/bin/zcode", isFile: () => true })).toBe("/bin/zcode");
  expect(lookup({ isFile: (path) => path.startsWith("/usr/share") })).toBe("/usr/share/zcode/resources/glm/zcode.cjs");
  expect(lookup({ platform: "darwin", isFile: (path) => path.startsWith("/home") })).toBe(
    "/home/me/Applications/ZCode.app/Contents/Resources/glm/zcode.cjs",
  );
  expect(lookup({})).toBe("zcode");
});

test("tools nobody serves are turned off, unless asked for", () => {
  expect(disallowedTools({})).toBe("CronCreate CronList CronUpdate CronDelete");
  expect(disallowedTools({ ZCODE_DISALLOWED_TOOLS: "Foo,Bar CronList" })).toBe(
    "CronCreate CronList CronUpdate CronDelete Foo Bar",
  );
  expect(disallowedTools({ ZCODE_ENABLE_AUTOMATION_TOOLS: "1" })).toBe("");
});

test("the first Node that passes is taken, in order", async () => {
  expect(await chooseNode(["a", "b", "c"], (node) => Promise.resolve(node !== "a"))).toBe("b");
  expect(await chooseNode(["a"], () => Promise.resolve(false))).toBeUndefined();
});

const CONFIG = JSON.stringify({
  provider: {
    off: { enabled: false, options: { apiKey: "no" } },
    zai: {
      name: "Z",
      kind: "anthropic",
      options: { apiKey: "KEY", baseURL: "https://example.org" },
      models: { "GLM-5.3": { reasoning: { variants: ["high", "max"], defaultVariant: "high" } } },
    },
  },
});

test("a script gets its Node, flags, credentials and both provider variables; our own file is private and in the seed's shape", async () => {
  const { home, write } = place();
  const script = write("app/glm/zcode.cjs", "");
  write("app/glm/provider/zcode-builtin.json", "{}");
  write(".zcode/v2/config.json", CONFIG);
  const spec = await planLaunch({
    env: { ZCODE_BIN: script, ZCODE_NODE: "/n/node", ACP_HUB_TOKEN: "s", ZCODE_ACP_REMOTE_TOKEN: "s", PATH: "" },
    home,
    platform: "linux",
    canRun: () => Promise.resolve(true),
  });
  expect(spec.command).toBe("/n/node");
  expect(spec.args).toEqual([
    "--no-network-family-autoselection",
    "--dns-result-order=ipv4first",
    script,
    "app-server",
    "--stdio",
    "--disallowed-tools",
    "CronCreate CronList CronUpdate CronDelete",
  ]);
  const personal = spec.env["ZCODE_PERSONAL_PROVIDER_CONFIG_FILE"] ?? "";
  expect(spec.env["ZCODE_BUILTIN_PROVIDER_CONFIG_FILE"]).toBe(join(home, "app/glm/provider/zcode-builtin.json"));
  expect(spec.env).toMatchObject({ ANTHROPIC_API_KEY: "KEY", ZCODE_BASE_URL: "https://example.org" });
  expect(Object.keys(spec.env).filter((name) => name.startsWith("ACP_HUB_") || name.includes("REMOTE_TOKEN"))).toEqual(
    [],
  );
  expect(statSync(personal).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(personal, "utf8"))).toEqual({
    schemaVersion: 1,
    config: {
      providerConfigRules: {
        providerRules: [
          {
            providerId: "zai",
            providerName: "Z",
            config: {
              group: "standard-personal",
              access: { type: "api-key", apiKey: "KEY" },
              api: { type: "anthropic-messages", baseUrl: "https://example.org" },
              personalModelIds: ["GLM-5.3"],
              modelOrder: ["GLM-5.3"],
            },
          },
        ],
      },
      modelConfigRules: { providerModelRules: [], manualProviderModelRules: [] },
    },
  });
});

test("the user's own provider file is used and never written", async () => {
  const { home, write } = place();
  const script = write("glm/zcode.cjs", "");
  write("config/provider/zcode-builtin.json", "{}");
  const own = write(".zcode/v2/provider_config.json", '{"mine":true}');
  const spec = await planLaunch({
    env: { ZCODE_BIN: script },
    home,
    platform: "linux",
    canRun: () => Promise.resolve(true),
  });
  expect(spec.env["ZCODE_PERSONAL_PROVIDER_CONFIG_FILE"]).toBe(own);
  expect(readFileSync(own, "utf8")).toBe('{"mine":true}');
});

test("without a built-in table neither variable is given, a stale inherited one included", async () => {
  const { home, write } = place();
  const bin = write("zcode", "");
  chmodSync(bin, 0o755);
  const spec = await planLaunch({
    env: { ZCODE_BIN: bin, ZCODE_BUILTIN_PROVIDER_CONFIG_FILE: "/gone" },
    home,
    platform: "linux",
  });
  expect(spec.command).toBe(bin);
  expect(Object.keys(spec.env).filter((name) => name.includes("PROVIDER_CONFIG"))).toEqual([]);
});

test("a home of another name is not handed to the CLI, which appends .zcode itself", async () => {
  const plan = (zcodeHome: string) =>
    planLaunch({ env: { ZCODE_BIN: "/x/zcode", ZCODE_HOME: zcodeHome }, home: "/h", platform: "linux" });
  expect((await plan("/data/.zcode")).env["ZCODE_DATA_BASE_DIR"]).toBe("/data");
  expect((await plan("/data/z")).env["ZCODE_DATA_BASE_DIR"]).toBeUndefined();
});

test("a variable that is empty is one that is not set: no data beside the project, no provider of no name", () => {
  const env = launchEnv({ env: { ZCODE_PROVIDER: "" } }, { ZCODE_HOME: "", ZCODE_PROVIDER: "zai", HOME: "" });
  expect(env).toEqual({ HOME: "" });
  expect(zcodeHomeOf(env, "/home/me")).toBe("/home/me/.zcode");
});

test("no Node that can run the script is an error that says what to do", async () => {
  const { home, write } = place();
  const script = write("zcode.cjs", "");
  const plan = planLaunch({
    env: { ZCODE_BIN: script, PATH: "" },
    home,
    platform: "linux",
    canRun: () => Promise.resolve(false),
  });
  await expect(plan).rejects.toThrow(/ZCODE_NODE/);
});
