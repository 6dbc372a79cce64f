import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isRunning } from "../support/processes.ts";
import { openSession, processesOf, Stage, scripted, until } from "../support/stage.ts";

const hubsOf = (stage: Stage): number[] =>
  processesOf(stage.home.dir)
    .filter(({ command }) => command.includes(" serve "))
    .map(({ pid }) => pid);

describe("a hub on demand", () => {
  let stage: Stage;
  beforeEach(() => {
    stage = new Stage();
  });
  afterEach(() => stage.end());

  it("design 2 ten bridges at once start exactly one hub, and all of them are linked to it", async () => {
    const bridges = Array.from({ length: 10 }, () => stage.home.bridge(scripted(), { isAutostart: true }));
    await Promise.all(bridges.map(({ editor }) => openSession(editor)));
    await stage.linked(10, 30_000);
    const info = await stage.hubInfo();
    // Those that found another hub starting have seen it by now, or will in a moment.
    expect(await until(() => hubsOf(stage).length === 1, 10_000)).toBe(true);
    expect(hubsOf(stage)).toEqual([info?.pid]);
  });

  it("design 2 L6 the hub is detached: it outlives the bridge that started it, and the next bridge uses it", async () => {
    const first = stage.home.bridge(scripted(), { isAutostart: true });
    await openSession(first.editor);
    await stage.linked(1, 15_000);
    const pid = (await stage.hubInfo())?.pid ?? 0;
    expect(readFileSync(`/proc/${pid}/stat`, "utf8").split(" ")[5]).toBe(String(pid));
    // Only so it ends by itself when nobody needs it.
    expect(readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")).toContain("--on-demand");
    const ended = new Promise((resolve) => first.child.once("exit", resolve));
    first.editor.close();
    await ended;
    expect(isRunning(pid)).toBe(true);
    const second = stage.home.bridge(scripted(), { isAutostart: true });
    await openSession(second.editor);
    await stage.linked(1, 15_000);
    expect((await stage.hubInfo())?.pid).toBe(pid);
    expect(hubsOf(stage)).toEqual([pid]);
  });

  it("contract 1 ACP_HUB_NO_AUTOSTART=1 starts none", async () => {
    const { editor } = stage.home.bridge(scripted({ turns: [[{ waitMs: 1500 }, { say: "done" }]] }));
    const sessionId = await openSession(editor);
    await editor.call("session/prompt", { sessionId, prompt: [] });
    expect(hubsOf(stage)).toEqual([]);
    expect(await stage.hubInfo()).toBeUndefined();
  });

  it("L2 a hub killed under its bridges is replaced by one, and it keeps the sessions", async () => {
    const bridges = Array.from({ length: 3 }, () => stage.home.bridge(scripted(), { isAutostart: true }));
    const sessions = await Promise.all(bridges.map(({ editor }) => openSession(editor)));
    await stage.linked(3, 20_000);
    const before = (await stage.instances()).map(({ id }) => id).sort();
    const pid = (await stage.hubInfo())?.pid ?? 0;
    process.kill(pid, "SIGKILL");
    expect(await until(() => !isRunning(pid), 2000)).toBe(true);
    const after = await stage.linked(3, 20_000);
    expect(after.map(({ id }) => id).sort()).toEqual(before);
    expect(sessions).toEqual(["s1", "s1", "s1"]);
    expect(await until(() => hubsOf(stage).length === 1, 10_000)).toBe(true);
    expect(hubsOf(stage)).not.toContain(pid);
  });
});
