import { readFileSync } from "node:fs";
import { parse as parsePlist } from "plist";
import { describe, expect, it } from "vitest";
import { renderPlist } from "../../../../src/cli/service/launchd-plist.ts";
import { planService, planWarnings, type ServicePlan } from "../../../../src/cli/service/plan.ts";
import { renderUnit, unitWord } from "../../../../src/cli/service/systemd-unit.ts";

const plan: ServicePlan = {
  node: "/opt/node/bin/node",
  script: "/opt/it's 100%/$HOME/main.js",
  args: ["serve", "--supervised", "--home", "/data & <logs>"],
  path: "/opt/node/bin:/usr/bin",
  logFile: "/logs/service.log",
};
const unit = readFileSync("deploy/acp-hub.service", "utf8");
const plist = readFileSync("deploy/com.acp-hub.hub.plist", "utf8");

describe("service templates", () => {
  it("C1.service the unit runs the absolute command, with systemd's own characters escaped, and keeps the rest", () => {
    const text = renderUnit(unit, plan);
    expect(text).toContain(
      'ExecStart="/opt/node/bin/node" "/opt/it\'s 100%%/$$HOME/main.js" "serve" "--supervised" "--home" "/data & <logs>"\nEnvironment="PATH=/opt/node/bin:/usr/bin"\n',
    );
    expect(text.replace(/^(ExecStart|Environment)=.*\n/gm, "")).toBe(unit.replace(/^ExecStart=.*\n/m, ""));
    expect(text).toContain("KillMode=process");
  });

  it("C1.service a word of a unit cannot end its line or its quotes", () => {
    expect(unitWord('a"b\\c', true)).toBe('"a\\"b\\\\c"');
    expect(unitWord("PATH=$x", false)).toBe('"PATH=$x"');
    expect(() => unitWord("a\nExecStartPre=/bin/evil", true)).toThrow("line break");
  });

  it("C1.service the launchd agent holds the command, the PATH and the log file, escaped", () => {
    const text = renderPlist(plist, plan);
    expect(text).toContain("<string>/data &amp; &lt;logs&gt;</string>\n  </array>");
    expect(text).toContain("<string>/opt/it's 100%/$HOME/main.js</string>");
    expect(text).toContain("<key>PATH</key>\n    <string>/opt/node/bin:/usr/bin</string>");
    expect(text.match(/\/logs\/service\.log/g)).toHaveLength(2);
    expect(text).not.toContain("/tmp/");
  });

  it("C1.service launchd reads out of it, by a real parser, just what was meant, whatever stands in the paths", () => {
    const odd: ServicePlan = {
      node: '/Users/Jo "J" O\'Neil/<node> & co/bin/node',
      script: "/opt/ünïcode/日本 ]]> -->/main.js",
      args: ["serve", "--supervised", "--home", "/Users/jo/$HOME/100%"],
      path: "/opt/a&b:/usr/bin:/bin",
      logFile: "/Users/jo/Library/Logs/acp-hub/<service>.log",
    };
    for (const each of [plan, odd])
      expect(parsePlist(renderPlist(plist, each))).toEqual({
        Label: "com.acp-hub.hub",
        ProgramArguments: [each.node, each.script, ...each.args],
        EnvironmentVariables: { PATH: each.path },
        RunAtLoad: true,
        // Started again after a crash and after 75; a hub that was told to stop stays stopped.
        KeepAlive: { SuccessfulExit: false },
        ThrottleInterval: 10,
        ExitTimeOut: 10,
        AbandonProcessGroup: true,
        ProcessType: "Interactive",
        StandardOutPath: each.logFile,
        StandardErrorPath: each.logFile,
      });
  });

  it("C1.service a path that XML cannot hold is refused, not cut", () => {
    expect(() => renderPlist(plist, { ...plan, script: "/a\u0000b" })).toThrow("cannot stand in a launchd agent");
    expect(() => renderPlist(plist, { ...plan, path: "/a\u001bb" })).toThrow("cannot stand in a launchd agent");
  });

  it("C1.service a template that lost its marks is an error, not a service that runs something else", () => {
    expect(() => renderUnit(unit.replace("ExecStart=", "Exec="), plan)).toThrow("ExecStart");
    expect(() => renderPlist(plist.replace("<key>PATH</key>", ""), plan)).toThrow("lacks a part");
  });

  it("C1.service what the service will not see or will lose is named", () => {
    const env = { PATH: "/usr/bin", ACP_HUB_PORT: "1", ACP_HUB_HOME: "/h" };
    const script = "/home/me/.npm/_npx/1/node_modules/acp-hub/dist/cli/main.js";
    const warnings = planWarnings(planService({ node: "/n", script, env, home: "/h", logDir: "/l" }), env).join("\n");
    expect(warnings).toContain("npx's cache");
    expect(warnings).toContain("does not see ACP_HUB_PORT of");
  });
});
