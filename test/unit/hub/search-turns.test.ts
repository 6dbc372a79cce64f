import { expect, test } from "vitest";
import { SearchTurns } from "../../../src/hub/search-turns.ts";
import { Turns } from "../../../src/hub/turns.ts";

const round = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const wanted = (): boolean => true;

/** Searches that take so long each, by a clock of their own. */
function stage(bounds: { perDevice: number; all: number }, ms = 30) {
  let now = 0;
  const turns = new SearchTurns(new Turns(() => now), bounds);
  const served: string[] = [];
  const search = (device: string, name: string, isWanted = wanted): Promise<string | undefined> =>
    turns.run(device, isWanted, () => {
      now += ms;
      served.push(name);
      return name;
    });
  return { search, served };
}

test("C6.limits fifty searches at once leave the loop free between them", async () => {
  const { search, served } = stage({ perDevice: 50, all: 50 });
  const all = Array.from({ length: 50 }, (_, n) => search("phone", `${n}`));
  expect(served).toEqual(["0"]);
  let rounds = 0;
  while (served.length < 50 && rounds < 200) {
    const before = served.length;
    await round();
    rounds += 1;
    expect(served.length - before).toBeLessThanOrEqual(1);
  }
  expect(await Promise.all(all)).toEqual(Array.from({ length: 50 }, (_, n) => `${n}`));
});

test("C6.limits a device that searches much waits for itself", async () => {
  const { search, served } = stage({ perDevice: 50, all: 50 });
  const greedy = Array.from({ length: 10 }, (_, n) => search("g", `g${n}`));
  await search("o", "o");
  expect(served.length).toBeLessThanOrEqual(3);
  await Promise.all(greedy);
});

test("C6.limits what waits is bounded: 429 for the device, 503 for the hub, with a time to come back, and room again later", async () => {
  const { search, served } = stage({ perDevice: 2, all: 3 });
  const refused = (status: number): unknown =>
    expect.objectContaining({ status, extras: { code: "busy", retryAfterSeconds: 2 } });
  const first = search("a", "a0");
  const waiting = [search("a", "a1"), search("a", "a2")];
  expect(() => search("a", "a3")).toThrow(refused(429) as Error);
  waiting.push(search("b", "b1"));
  expect(() => search("b", "b2")).toThrow(refused(503) as Error);
  await Promise.all([first, ...waiting]);
  expect(await search("a", "a4")).toBe("a4");
  expect(served).toEqual(["a0", "a1", "b1", "a2", "a4"]);
});

test("C6.limits whoever has gone meanwhile costs nothing, and a search that fails fails alone", async () => {
  const { search, served } = stage({ perDevice: 9, all: 9 });
  const first = search("a", "a0");
  const gone = search("a", "a1", () => false);
  const turns = new SearchTurns(new Turns(() => 0));
  await expect(
    turns.run("a", wanted, () => {
      throw new Error("the index");
    }),
  ).rejects.toThrow("the index");
  expect(await turns.run("a", wanted, () => 1)).toBe(1);
  expect(await Promise.all([first, gone, search("a", "a2")])).toEqual(["a0", undefined, "a2"]);
  expect(served).toEqual(["a0", "a2"]);
});
