import { describe, expect, it, vi } from "vitest";
import { memoryStorage } from "../../../src/client/ports.ts";
import { readAhead } from "../../../src/web/platform/read-ahead.ts";

async function stored() {
  const under = memoryStorage();
  await under.set("a", 1);
  await under.set("b", 2);
  const reads = vi.spyOn(under, "get");
  return { under, reads };
}

describe("readAhead", () => {
  it("reads before it is asked, and answers with that once", async () => {
    const { under, reads } = await stored();
    const storage = readAhead(under, ["a", "none"]);
    expect(reads.mock.calls).toEqual([["a"], ["none"]]);
    expect(await storage.get("a")).toBe(1);
    expect(await storage.get("none")).toBeUndefined();
    expect(reads).toHaveBeenCalledTimes(2);
    await under.set("a", 3);
    expect(await storage.get("a")).toBe(3);
    expect(await storage.get("b")).toBe(2);
    expect(await storage.keys("")).toEqual(["a", "b"]);
  });

  it("never gives what was overwritten or deleted meanwhile", async () => {
    const { under } = await stored();
    const storage = readAhead(under, ["a", "b"]);
    await storage.set("a", 4);
    await storage.delete("b");
    expect([await storage.get("a"), await storage.get("b")]).toEqual([4, undefined]);
  });

  it("tells a failure to who asks, and to nobody else", async () => {
    const { under, reads } = await stored();
    reads.mockImplementationOnce(() => Promise.reject(new Error("the disk")));
    const storage = readAhead(under, ["a"]);
    await Promise.resolve();
    await expect(storage.get("a")).rejects.toThrow("the disk");
    expect(await storage.get("a")).toBe(1);
  });
});
