/** Calls: correlated strictly, bounded in time, and all answered when the process is gone. */
import { expect, test } from "vitest";
import { silentLog } from "../../../../../src/backends/zcode/log.ts";
import { ZcodeConnection } from "../../../../../src/backends/zcode/rpc/connection.ts";
import { ZcodeError } from "../../../../../src/backends/zcode/rpc/errors.ts";
import { HandClock } from "../../../../support/fake-zcode/harness.ts";

function opened() {
  const lines: string[] = [];
  const silences: number[] = [];
  const requests: unknown[] = [];
  const clock = new HandClock();
  const connection = new ZcodeConnection((line) => lines.push(line), clock, silentLog, {
    onNotification: () => {},
    onRequest: (id, method) => requests.push([id, method]),
    onSilent: () => silences.push(clock.now()),
  });
  /** One call after the other, each in vain. */
  const callInVain = async (count: number): Promise<void> => {
    for (let each = 0; each < count; each++) {
      const outcome = expect(connection.call("a", {}, { timeoutMs: 15_000 })).rejects.toMatchObject({
        kind: "timeout",
      });
      await clock.advance(15_000);
      await outcome;
    }
  };
  return { clock, connection, lines, requests, silences, callInVain };
}

test("silence begins with the first call in vain: one that was idle for an hour has its two minutes, too", async () => {
  const { clock, silences, callInVain } = opened();
  await clock.advance(3_600_000);
  await callInVain(7);
  expect(silences).toEqual([]);
  await callInVain(1);
  expect(silences).toHaveLength(1);
});

test("a call that a sleep of the computer made late says nothing of the app-server", async () => {
  const { clock, connection, silences, callInVain } = opened();
  const slept = expect(connection.call("a", {}, { timeoutMs: 15_000 })).rejects.toMatchObject({ kind: "timeout" });
  clock.sleep(3_600_000);
  await clock.advance(0);
  await slept;
  await callInVain(7);
  expect(silences).toEqual([]);
  await callInVain(1);
  expect(silences).toHaveLength(1);
});

test("answers come back in any order, and a request of theirs under one of our ids stays a request", async () => {
  const { connection, requests } = opened();
  const [one, two] = [connection.call("a", {}), connection.call("b", {})];
  connection.receive('{"id":1,"method":"interaction/requestPermission","params":{}}');
  connection.receive('{"id":2,"result":{"n":2}}');
  connection.receive('{"id":1,"result":{"n":1}}');
  expect(await Promise.all([one, two])).toEqual([{ n: 1 }, { n: 2 }]);
  expect(requests).toEqual([[1, "interaction/requestPermission"]]);
});

test("row 20 a call has its own time, and an answer after it is dropped", async () => {
  const { clock, connection } = opened();
  const call = connection.call("session/read", {});
  const outcome = expect(call).rejects.toMatchObject({ kind: "timeout" });
  await clock.advance(8_000);
  await outcome;
  connection.receive('{"id":1,"result":{}}');
  expect(connection.pendingCount).toBe(0);
});

test("death answers everything pending, and everything later", async () => {
  const { connection, lines } = opened();
  const calls = [connection.call("a", {}), connection.call("b", {})];
  const death = new ZcodeError("dead", "gone");
  const outcomes = Promise.allSettled(calls);
  connection.die(death);
  expect((await outcomes).map((outcome) => outcome.status)).toEqual(["rejected", "rejected"]);
  await expect(connection.call("c", {})).rejects.toBe(death);
  connection.answer("server-1", {});
  connection.receive('{"id":"server-2","method":"x"}');
  expect(lines).toHaveLength(2);
  expect(connection.pendingCount).toBe(0);
});

test("a call that was given up is settled at once", async () => {
  const { connection } = opened();
  const giving = new AbortController();
  const call = connection.call("a", {}, { signal: giving.signal });
  giving.abort();
  await expect(call).rejects.toMatchObject({ kind: "other" });
});
