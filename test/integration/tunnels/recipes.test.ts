/** The recipes whose other end is not on this machine: what they say about the hub is held to the hub, and ssh reads its own. */
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DEFAULT_CONFIG } from "../../../src/config/config.ts";
import { loadConfig } from "../../../src/config/load.ts";

const HUB = `127.0.0.1:${DEFAULT_CONFIG.port}`;
const recipe = (name: string): string => readFileSync(join("deploy", name), "utf8");

/** `"publicUrl": …` in a recipe's comments, as far as the settings go. */
const SETTINGS = /^# +("publicUrl": "[^"]+"(?:, *"\w+": (?:"[^"]*"|\[[^\]]*\]))*)/gm;
const settings = readdirSync("deploy").flatMap((name) =>
  [...recipe(name).matchAll(SETTINGS)].map((match) => ({ name, text: `{ ${match[1] ?? ""} }` })),
);

const hasSsh = spawnSync("ssh", ["-V"]).status === 0;

describe("recipes", () => {
  it("C1.config the settings they show are taken as they stand, without a warning", () => {
    const names = settings.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["Caddyfile", "cloudflared.yml", "frpc.toml", "ssh-tunnel.service"]));
    for (const { name, text } of settings) {
      const { warnings, config } = loadConfig({ file: name, env: {}, readFile: () => text });
      expect(warnings, name).toEqual([]);
      // Each of them hands the hub requests from its own loopback, with the stranger's address in a header.
      expect(config.trustedProxies, name).toEqual(["127.0.0.1"]);
      if (/^(?:cloudflared|frpc)/.test(name)) expect(recipe(name)).toContain(new URL(config.publicUrl ?? "").hostname);
    }
  });

  it("C1.address lead to the address the hub takes by default", () => {
    expect(recipe("cloudflared.yml")).toContain(`service: http://${HUB}\n`);
    expect(recipe("frpc.toml")).toMatch(new RegExp(`localIP = "127.0.0.1"\nlocalPort = ${DEFAULT_CONFIG.port}\n`));
    expect(recipe("ssh-tunnel.service")).toContain(`-R ${HUB}:${HUB} `);
  });

  it.runIf(hasSsh)("ssh takes the tunnel's options, ends without its forwarding and notices a dead link", () => {
    const [, line = ""] = /^ExecStart=\S+ (.*)$/m.exec(recipe("ssh-tunnel.service")) ?? [];
    const effective = execFileSync("ssh", ["-G", "-F", "/dev/null", ...line.split(" ")], { encoding: "utf8" });
    for (const words of [
      "exitonforwardfailure yes",
      "serveraliveinterval 15",
      "serveralivecountmax 3",
      "host server.example.com",
      "user you",
    ])
      expect(effective.split("\n")).toContain(words);
    expect(effective).toMatch(/^remoteforward .*8377/m);
  });
});
