import { homedir } from "node:os";
import { describe, expect, test } from "vitest";
import { bridgeSettings } from "../../../src/config/bridge-settings.ts";
import { resolvePaths } from "../../../src/config/paths.ts";

describe("paths", () => {
  test("C1.files a home puts everything under one directory, with the listed names", () => {
    expect(resolvePaths("/h", {})).toMatchObject({
      configFile: "/h/config.json",
      database: "/h/hub.db",
      keysDir: "/h/keys",
      linkSocket: "/h/run/link.sock",
      apiSocket: "/h/run/api.sock",
      hubInfo: "/h/run/hub.json",
      logDir: "/h/logs",
    });
  });

  test("C1.files without one the platform's places are used, and the runtime directory is not", () => {
    const env = { XDG_CONFIG_HOME: "/c", XDG_DATA_HOME: "/d", XDG_STATE_HOME: "/s", XDG_RUNTIME_DIR: "/run/user/1" };
    const { configFile, database, runDir, logDir } = resolvePaths(undefined, env);
    const isMac = process.platform === "darwin";
    const support = `${homedir()}/Library/Application Support/acp-hub`;
    expect({ configFile, database, runDir, logDir }).toEqual(
      isMac
        ? {
            configFile: `${support}/config.json`,
            database: `${support}/hub.db`,
            runDir: `${support}/run`,
            logDir: `${homedir()}/Library/Logs/acp-hub`,
          }
        : {
            configFile: "/c/acp-hub/config.json",
            database: "/d/acp-hub/hub.db",
            runDir: "/d/acp-hub/run",
            logDir: "/s/acp-hub/logs",
          },
    );
  });

  test("C1.files a home too deep for a socket gets a short one, the same for all who name it, whatever their environment", () => {
    const deep = `/home/${"d".repeat(120)}`;
    const { linkSocket, apiSocket, hubInfo, runDir } = resolvePaths(deep, {});
    for (const path of [linkSocket, apiSocket]) expect(Buffer.byteLength(path)).toBeLessThanOrEqual(103);
    expect(hubInfo.startsWith(runDir)).toBe(true);
    expect(resolvePaths(deep, { TMPDIR: "/other", XDG_RUNTIME_DIR: "/run" }).linkSocket).toBe(linkSocket);
    expect(resolvePaths(`${deep}2`, {}).linkSocket).not.toBe(linkSocket);
    expect(Buffer.byteLength(resolvePaths(`/home/${"é".repeat(45)}`, {}).linkSocket)).toBeLessThanOrEqual(103);
  });

  test("a bridge reads its few settings from the environment", () => {
    expect(bridgeSettings({})).toEqual({ home: undefined, isAutostart: true, isShared: true });
    const off = { ACP_HUB_HOME: "/h", ACP_HUB_NO_AUTOSTART: "1", ACP_HUB_NO_SHARE: "yes" };
    expect(bridgeSettings(off)).toEqual({ home: "/h", isAutostart: false, isShared: false });
    expect(bridgeSettings({ ACP_HUB_NO_AUTOSTART: "0" }).isAutostart).toBe(true);
  });
});
