import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { hubLauncher } from "../../../src/bridge/hub-launcher.ts";

describe("starting a hub", () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ["performance"] }));
  afterEach(() => vi.useRealTimers());

  it("design 2 one that does not come up is tried ever less often, and sooner again after one that did", async () => {
    let attempts = 0;
    // Not there: each attempt is told by its error, and nothing has to be waited for.
    const launcher = hubLauncher({ command: "/nonexistent/hub", args: [], env: {} }, () => {
      attempts += 1;
    });
    const launchAfter = async (ms: number): Promise<number> => {
      vi.advanceTimersByTime(ms);
      await launcher.launch();
      return attempts;
    };
    expect(await launchAfter(0)).toBe(1);
    expect(await launchAfter(4999)).toBe(1);
    expect(await launchAfter(1)).toBe(2);
    expect(await launchAfter(9999)).toBe(2);
    expect(await launchAfter(1)).toBe(3);
    for (let attempt = 0; attempt < 6; attempt += 1) await launchAfter(60_000);
    expect(attempts).toBe(9);
    launcher.onUp();
    expect(await launchAfter(4999)).toBe(9);
    expect(await launchAfter(1)).toBe(10);
  });
});
