/** Turns: what a prompt sends, what is shown of its turn, and how its end is found. */
import { afterEach, expect, test } from "vitest";
import { calls, type Harness, harness } from "../../../support/fake-zcode/harness.ts";

let h: Harness;
afterEach(() => h.end());

test("a prompt creates the session, subscribes before it sends, streams, and ends", async () => {
  h = await harness({});
  const id = await h.newSession();
  expect(h.fakes).toHaveLength(0);
  const reply = await h.settle(h.client.prompt(id, "hello"));
  expect(reply.result).toMatchObject({ stopReason: "end_turn" });
  expect(h.client.text()).toBe("echo: hello");
  const order = h.fake.received.map((frame) => frame["method"]).filter((method) => method !== undefined);
  expect(order.lastIndexOf("session/subscribe")).toBeLessThan(order.indexOf("session/send"));
  expect(calls(h.fake, "session/create")).toHaveLength(1);
});
