import { describe, expect, it } from "vitest";
import { keepIdleSmall, type Memory, processMemory } from "../../../src/hub/idle-memory.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const MB = 1_048_576;

/** The size of a heap with 30 MB in it that nobody holds afterwards. */
function grown(): number {
  const held = Array.from({ length: 200 }, (_, index) => new Array<number>(20_000).fill(index));
  return held.length > 0 ? processMemory.heapBytes() : 0;
}

class FakeMemory implements Memory {
  cpu = 0;
  heap = 50 * MB;
  collections = 0;

  cpuMs(): number {
    return this.cpu;
  }

  heapBytes(): number {
    return this.heap;
  }

  collect(): Promise<void> {
    this.collections += 1;
    this.cpu += 50;
    this.heap = 20 * MB;
    return Promise.resolve();
  }
}

describe("the memory of an idle hub", () => {
  it("design 7 is collected once nothing happens, and again only after it has grown", async () => {
    const memory = new FakeMemory();
    const clock = new ManualClock();
    const stop = keepIdleSmall(memory, clock);
    memory.cpu += 400;
    await clock.advance(2500);
    expect(memory.collections).toBe(0);
    await clock.advance(2500);
    expect(memory.collections).toBe(1);
    await clock.advance(600_000);
    expect(memory.collections).toBe(1);
    memory.heap = 27 * MB;
    await clock.advance(2500);
    expect(memory.collections).toBe(1);
    memory.heap = 40 * MB;
    await clock.advance(2500);
    expect(memory.collections).toBe(2);
    stop();
    memory.heap = 90 * MB;
    await clock.advance(600_000);
    expect(memory.collections).toBe(2);
  });

  it("is left alone while there is work", async () => {
    const memory = new FakeMemory();
    const clock = new ManualClock();
    keepIdleSmall(memory, clock);
    for (let round = 0; round < 100; round += 1) {
      memory.cpu += 11;
      await clock.advance(2500);
    }
    expect(memory.collections).toBe(0);
  });

  it("shrinks this process's heap by what nobody holds", async () => {
    const before = grown();
    await processMemory.collect();
    expect(before - processMemory.heapBytes()).toBeGreaterThan(20 * MB);
    await processMemory.collect();
  });
});
