import { expect, test } from "vitest";
import { Inbox, Turns } from "../../../src/hub/turns.ts";

let clock = 0;
/** Takes its time, as a page of a large session does. */
const work = (ms: number): void => {
  clock += ms;
};
const turnsOf = (): Turns => new Turns(() => clock);

const round = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("C6.limits a client that asks much waits for itself: others are served and the loop goes round in between", async () => {
  const turns = turnsOf();
  const served: string[] = [];
  const reading: string[] = [];
  const client = (name: string, ms: number): Inbox<number> =>
    new Inbox(turns, {
      handle: (n) => {
        work(ms);
        served.push(`${name}${n}`);
      },
      pause: () => void reading.push(`${name} pause`),
      resume: () => void reading.push(`${name} resume`),
    });
  const [greedy, other] = [client("g", 12), client("o", 0)];
  for (let n = 1; n <= 5; n += 1) greedy.take(n);
  other.take(1);
  other.take(2);
  expect(served).toEqual(["g1"]);
  let rounds = 0;
  while (served.length < 7 && rounds < 100) {
    await round();
    rounds += 1;
  }
  expect(served.indexOf("o1")).toBeLessThan(served.indexOf("g3"));
  expect(served.filter((each) => each.startsWith("g"))).toEqual(["g1", "g2", "g3", "g4", "g5"]);
  expect(served.filter((each) => each.startsWith("o"))).toEqual(["o1", "o2"]);
  // One round for each that cost more than a round has.
  expect(rounds).toBeGreaterThanOrEqual(4);
  expect(reading.sort()).toEqual(["g pause", "g resume", "o pause", "o resume"]);
});

test("C6.limits one that is closed meanwhile is served no more, and what costs nothing is served at once", () => {
  const turns = turnsOf();
  const served: number[] = [];
  const quick = new Inbox<number>(turns, {
    handle: (n) => served.push(n),
    pause: expect.unreachable,
    resume: expect.unreachable,
  });
  for (let n = 1; n <= 100; n += 1) quick.take(n);
  expect(served).toHaveLength(100);
  quick.close();
  quick.take(101);
  expect(served).toHaveLength(100);
});

test("C6.limits closing drops what waits and lets the peer be read again, so that it can say goodbye", async () => {
  const turns = turnsOf();
  const told: string[] = [];
  const inbox = new Inbox<number>(turns, {
    handle: (n) => {
      told.push(String(n));
      work(12);
    },
    pause: () => told.push("pause"),
    resume: () => told.push("resume"),
  });
  for (let n = 1; n <= 3; n += 1) inbox.take(n);
  inbox.close();
  await round();
  await round();
  expect(told).toEqual(["1", "pause", "resume"]);
});
