import { describe, expect, test } from "vitest";
import { StoreError } from "../../../src/store/errors.ts";
import { HealthWatch } from "../../../src/store/health.ts";

describe("a store's health", () => {
  const full = new StoreError("disk-full", "full");

  test("L2 a fault stands from its first report until something was written, and is not asked for when there is none", () => {
    let now = 1_000;
    let asked = 0;
    const watch = new HealthWatch(() => now);
    const look = (isOver: boolean) =>
      watch.view(7, () => {
        asked += 1;
        return isOver;
      });
    expect(look(true)).toEqual({ waitingBytes: 7, lost: { events: 0, records: 0 } });
    expect(asked).toBe(0);
    watch.onError(full);
    now = 9_000;
    watch.onError(new StoreError("io", "and then this"));
    expect(look(false).fault).toEqual({ code: "io", since: 1_000 });
    watch.onWritten();
    expect(look(false).fault).toBeUndefined();
    watch.onError(full);
    expect(look(true).fault).toBeUndefined();
    expect(asked).toBe(2);
  });

  test("damage is not over because something else could be written", () => {
    const watch = new HealthWatch(() => 5);
    watch.onError(full);
    watch.onError(new StoreError("damaged", "a page"));
    watch.onError(full);
    watch.onWritten();
    expect(watch.view(0, () => true).fault).toEqual({ code: "damaged", since: 5 });
  });

  test("L2 what is lost stays counted, and a fault of one record is none of the disk", () => {
    const watch = new HealthWatch(() => 0);
    watch.onError(new StoreError("constraint", "ours"));
    watch.onError(new StoreError("out-of-order", "ours"));
    watch.onLost("events", 40);
    watch.onLost("records", 1);
    watch.onLost("records", 1);
    watch.onWritten();
    expect(watch.view(0, () => false)).toEqual({ waitingBytes: 0, lost: { events: 40, records: 2 } });
  });
});
