import { describe, expect, it } from "vitest";
import { type StartedBy, Succession } from "../../../src/hub/succession.ts";
import { isNewerVersion } from "../../../src/protocol/version-order.ts";

function make(startedBy: StartedBy, installed?: string) {
  const stuck: string[] = [];
  let lookCount = 0;
  const succession = new Succession({
    version: "1.4.0",
    startedBy,
    installedVersion: () => {
      lookCount += 1;
      return installed === undefined ? Promise.reject(new Error("gone")) : Promise.resolve(installed);
    },
    onStuck: (version, why) => stuck.push(`${version} ${why}`),
  });
  return { succession, stuck, lookCount: () => lookCount };
}

const asking = (version: string, startedBy: "bridge" | "supervisor" = "bridge") => ({ version, startedBy, pid: 42 });
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("who comes after a hub", () => {
  it("Su1 versions are ordered by number, a pre-release before its release; what is no version is never newer", () => {
    for (const [candidate, than] of [
      ["1.10.0", "1.9.0"],
      ["2.0.0", "2.0.0-rc.1"],
      ["1.0.0-rc.10", "1.0.0-rc.9"],
      ["0.1.0", "0.0.0-source"],
    ] as const) {
      expect(isNewerVersion(candidate, than)).toBe(true);
      expect(isNewerVersion(than, candidate)).toBe(false);
    }
    expect(isNewerVersion("1.0.0+b", "1.0.0+a")).toBe(false);
    for (const junk of ["", "latest", "1", "9.9", "99.0.0 ; rm"]) {
      expect(isNewerVersion(junk, "1.0.0")).toBe(false);
      expect(isNewerVersion("1.0.0", junk)).toBe(false);
    }
  });

  it("Su1 a bridge's hub makes room for newer ones alone, and tells bridges so", () => {
    const { succession } = make("bridge");
    expect(succession.onBridge("1.4.0")).toEqual([]);
    expect(succession.onBridge("1.3.9")).toEqual([]);
    expect(succession.newestBridge).toBeUndefined();
    expect(succession.onBridge("1.4.1")).toEqual(["makes-room"]);
    expect(succession.newestBridge).toBe("1.4.1");
    expect(succession.ask(asking("1.4.0"))).toBe("not-newer");
    expect(succession.ask(asking("1.3.0", "supervisor"))).toBe("not-newer");
    expect(succession.ask(asking("1.4.1"))).toEqual({ kind: "successor", pid: 42 });
  });

  it("Su1 a supervisor's hub of the same version takes the place of a bridge's", () => {
    expect(make("bridge").succession.ask(asking("1.4.0", "supervisor"))).toEqual({ kind: "successor", pid: 42 });
  });

  it("Su2 one successor: the next is told that room is being made", () => {
    const { succession } = make("bridge");
    succession.ask(asking("1.5.0"));
    expect(succession.isMakingRoom).toBe(true);
    expect(succession.ask(asking("9.0.0"))).toBe("making-room");
  });

  it("Su3 a service restarts when its program on disk is newer, and is asked once at a time", async () => {
    const { succession, stuck, lookCount } = make("supervisor", "1.4.1");
    expect(succession.onBridge("1.5.0")).toEqual([]);
    succession.onBridge("1.5.0");
    await expect(succession.due).resolves.toEqual({ kind: "restart" });
    expect(stuck).toEqual([]);
    expect(lookCount()).toBe(1);
    expect(succession.ask(asking("1.5.0"))).toBe("making-room");
  });

  it.each(["1.4.0", "1.3.0", "no version", undefined])(
    "Su3 a service whose program on disk is %s stays, and says so once per version",
    async (installed) => {
      const { succession, stuck } = make("supervisor", installed);
      for (const version of ["1.5.0", "1.5.0", "1.4.9", "1.6.0"]) {
        succession.onBridge(version);
        await settled();
      }
      expect(stuck).toEqual(["1.5.0 supervised", "1.6.0 supervised"]);
      expect(succession.isMakingRoom).toBe(false);
      expect(succession.ask(asking("1.5.0"))).toBe("supervised");
    },
  );

  it("Su1 a hub that a person runs is nobody's to end", () => {
    const { succession, stuck } = make("person");
    expect(succession.onBridge("2.0.0")).toEqual([]);
    expect(succession.ask(asking("2.0.0"))).toBe("by-hand");
    expect(succession.ask(asking("2.0.0", "supervisor"))).toBe("by-hand");
    expect(stuck).toEqual(["2.0.0 by-hand"]);
  });
});
