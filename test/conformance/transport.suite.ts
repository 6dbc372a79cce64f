/** What every `Transport` has to do, whatever carries it. A new kind is one more `setup`. */
import { afterEach, describe, expect, test } from "vitest";
import type { Transport } from "../../src/transport/transport.ts";
import { Recorder } from "../support/recorder.ts";

export interface TransportPair {
  readonly near: Transport;
  readonly far: Transport;
  /** Frees what carries the pair. */
  dispose(): Promise<void> | void;
}

const note = (method: string, value: unknown = null): string =>
  JSON.stringify({ jsonrpc: "2.0", method, params: { value } });

export function transportSuite(kind: string, setup: () => Promise<TransportPair> | TransportPair): void {
  describe(`a ${kind} transport`, () => {
    const pairs: TransportPair[] = [];
    const open = async (): Promise<TransportPair> => {
      const pair = await setup();
      pairs.push(pair);
      return pair;
    };
    afterEach(async () => {
      for (const pair of pairs.splice(0)) {
        pair.near.close();
        pair.far.close();
        await pair.dispose();
      }
    });

    test("T2 messages arrive whole, in order and as the text they were sent as", async () => {
      const { near, far } = await open();
      const there = Recorder.on(far);
      const back = Recorder.on(near);
      const texts = Array.from({ length: 500 }, (_, index) => note(`m${index}`, "x".repeat(index)));
      for (const text of texts) near.send(text);
      far.send(note("back"));
      await there.untilFrames(500);
      await back.untilFrames(1);
      expect(there.texts).toEqual(texts);
      expect(back.texts).toEqual([note("back")]);
    });

    test("T2 line separators, surrogates and escapes inside strings survive", async () => {
      const { near, far } = await open();
      const there = Recorder.on(far);
      const texts = ["\u2028\u2029\u0085\u000b", "\u{1f680}é漢", "\\ud800 \ud83d", "\n\r\t\u0000"].map((value) =>
        note("text", value),
      );
      for (const text of texts) near.send(text);
      await there.untilFrames(texts.length);
      expect(there.texts).toEqual(texts);
    });

    test("T2 a message of several megabytes arrives whole", async () => {
      const { near, far } = await open();
      const there = Recorder.on(far);
      const text = note("large", "é\u2028".repeat(1_500_000));
      near.send(text);
      near.send(note("after"));
      await there.untilFrames(2);
      expect(there.texts[0] === text).toBe(true);
      expect(there.texts[1]).toBe(note("after"));
    });

    test("T1 junk and batches are reported with a refusal and their size, and what follows still arrives", async () => {
      const { near, far } = await open();
      const there = Recorder.on(far);
      near.send("npm warn deprecated");
      near.send("[]");
      near.send('{"jsonrpc":"1.0","id":1,"method":"x"}');
      near.send(note("fine"));
      await there.untilFrames(1);
      expect(there.texts).toEqual([note("fine")]);
      expect(there.junk.map((junk) => [junk.refusal.error.code, junk.refusal.id])).toEqual([
        [-32700, null],
        [-32600, null],
        [-32600, null],
      ]);
      expect(there.junk[0]?.bytes).toBe("npm warn deprecated".length);
      expect(JSON.stringify(there.junk)).not.toContain("deprecated");
    });

    test("messages sent before the other side starts are delivered when it does", async () => {
      const { near, far } = await open();
      near.send(note("early"));
      near.send(note("bird"));
      const there = Recorder.on(far);
      await there.untilFrames(2);
      expect(there.texts).toEqual([note("early"), note("bird")]);
    });

    test("a send never delivers within its own call", async () => {
      const { near, far } = await open();
      const there = Recorder.on(far);
      near.send(note("a"));
      expect(there.texts).toEqual([]);
      await there.untilFrames(1);
    });

    test("B5 send says no over the mark, nothing is lost, and onDrain follows once the peer reads again", async () => {
      const { near, far } = await open();
      const sender = Recorder.on(near);
      const there = Recorder.on(far);
      far.pause();
      const text = note("bulk", "x".repeat(60_000));
      let count = 0;
      let accepted = true;
      // Each turn of the loop lets the carrier take what it can: it has buffers of its own to fill first.
      while (accepted && count < 2000) {
        accepted = near.send(text);
        count += 1;
        if (count % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      expect(accepted).toBe(false);
      expect(near.bufferedBytes).toBeGreaterThan(60_000);
      expect(there.texts.length).toBe(0);
      expect(sender.drains).toBe(0);
      far.resume();
      await there.untilFrames(count);
      await sender.until(() => sender.drains > 0);
      expect(near.bufferedBytes).toBeLessThanOrEqual(1_048_576);
      expect(there.texts.length).toBe(count);
    });

    test("close sends what is queued first, and both sides are told exactly once", async () => {
      const { near, far } = await open();
      const here = Recorder.on(near);
      const there = Recorder.on(far);
      near.send(note("last words", "y".repeat(200_000)));
      near.close();
      near.close();
      await there.untilClosed();
      await here.untilClosed();
      expect(there.texts.length).toBe(1);
      expect(near.isClosed && far.isClosed).toBe(true);
      expect([here.closes.length, there.closes.length]).toEqual([1, 1]);
      expect(here.closes[0]?.reason).toBe("closed");
    });

    test("R5 after close a send is dropped and says no", async () => {
      const { near, far } = await open();
      const here = Recorder.on(near);
      const there = Recorder.on(far);
      near.close();
      expect(near.send(note("late"))).toBe(false);
      await there.untilClosed();
      await here.untilClosed();
      expect(far.send(note("late"))).toBe(false);
      expect(there.texts).toEqual([]);
    });

    test("a close from within onFrame ends delivery there", async () => {
      const { near, far } = await open();
      const here = Recorder.on(near);
      const there = new Recorder();
      far.start({
        onFrame: (frame) => {
          there.onFrame(frame);
          far.close();
        },
        onJunk: () => undefined,
        onClose: (info) => there.onClose(info),
      });
      for (let index = 0; index < 5; index += 1) near.send(note(`m${index}`));
      await there.untilClosed();
      await here.untilClosed();
      expect(there.texts).toEqual([note("m0")]);
    });

    test("a side that closes before it starts is still told", async () => {
      const { near, far } = await open();
      near.close();
      const here = Recorder.on(near);
      const there = Recorder.on(far);
      await here.untilClosed();
      await there.untilClosed();
      expect(here.closes.length).toBe(1);
    });

    test("answers from within onFrame go back and forth", async () => {
      const { near, far } = await open();
      const done = new Recorder();
      const bounce = (transport: Transport, limit: number, seen: Recorder) => ({
        onFrame: (frame: Parameters<Recorder["onFrame"]>[0]) => {
          seen.onFrame(frame);
          if (seen.texts.length < limit) transport.send(note("ball", seen.texts.length));
        },
        onJunk: () => undefined,
        onClose: () => undefined,
      });
      near.start(bounce(near, 50, done));
      far.start(bounce(far, 51, new Recorder()));
      near.send(note("ball"));
      await done.untilFrames(50);
      expect(done.texts.length).toBe(50);
    });
  });
}
