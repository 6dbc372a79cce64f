import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EMPTY_TRANSCRIPT, type Transcript } from "../../../src/client/transcript/item.ts";
import { prependPage } from "../../../src/client/transcript/page.ts";
import { reduceTranscript } from "../../../src/client/transcript/reduce.ts";
import { history, journalOf, liveInputs, replayInputs, type ScriptedEvent } from "../../support/session-events.ts";

/** One at a time, as a live stream comes. */
function live(events: readonly ScriptedEvent[]): Transcript {
  return liveInputs(events).reduce((transcript, input) => reduceTranscript(transcript, [input]), EMPTY_TRANSCRIPT);
}

/** What a reader cares for: everything but the order of members. */
const seen = (transcript: Transcript) => ({ ...transcript, unnumbered: 0 });

describe("transcript", () => {
  it("T1 a coalesced replay shows what the live stream showed", () => {
    fc.assert(
      fc.property(history, (events) => {
        const replay = reduceTranscript(EMPTY_TRANSCRIPT, replayInputs(journalOf(events).replay()));
        expect(seen(replay)).toEqual(seen(live(events)));
      }),
    );
  });

  it("T1 a cursor that cuts the stream anywhere changes nothing", () => {
    fc.assert(
      fc.property(history, fc.nat(60), (events, at) => {
        const cut = Math.min(at, events.length);
        const since = journalOf(events).since(cut);
        if (!since.ok) throw new Error(since.reason);
        const resumed = reduceTranscript(live(events.slice(0, cut)), replayInputs(since.items));
        expect(seen(resumed)).toEqual(seen(live(events)));
      }),
    );
  });

  it("T1 one batch gives the same as single steps", () => {
    fc.assert(
      fc.property(history, (events) => {
        expect(reduceTranscript(EMPTY_TRANSCRIPT, liveInputs(events))).toEqual(live(events));
      }),
    );
  });

  it("T1 pages loaded backwards, cut anywhere, show the same items as the live stream", () => {
    fc.assert(
      fc.property(history, fc.nat(60), (events, at) => {
        const cut = Math.min(at, events.length);
        const inputs = liveInputs(events);
        const paged = prependPage(reduceTranscript(EMPTY_TRANSCRIPT, inputs.slice(cut)), inputs.slice(0, cut));
        const whole = live(events);
        expect({ items: paged.items, settled: paged.settled }).toEqual({ items: whole.items, settled: whole.settled });
      }),
    );
  });
});
