import { expect, it } from "vitest";
import { runBridge } from "../../../src/bridge/bridge.ts";
import { memoryPair } from "../../../src/transport/memory.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { puppetAgent } from "../../support/puppet-agent.ts";

const MINUTE = 60_000;

const bridgeOf = (clock: ManualClock, primary?: Parameters<typeof runBridge>[0]["primary"]) =>
  runBridge({
    backend: puppetAgent().backend,
    sharing: undefined,
    isHeadless: primary === undefined,
    workspace: "/",
    version: "0.0.0-test",
    forms: "any",
    idleClock: clock,
    ...(primary !== undefined && { primary }),
  });

it("L6 a headless bridge nobody came to ends after thirty minutes, with its agent and exit code 0", async () => {
  const clock = new ManualClock();
  let code: number | undefined;
  const ended = bridgeOf(clock).then((value) => {
    code = value;
  });
  await clock.advance(30 * MINUTE - 1);
  expect(code).toBeUndefined();
  await clock.advance(1);
  await ended;
  expect(code).toBe(0);
  expect(clock.pendingCount).toBe(0);
});

it("L6 an editor's bridge has no such end", async () => {
  const [editor, primary] = memoryPair();
  const clock = new ManualClock();
  const ended = bridgeOf(clock, primary);
  await clock.advance(100 * MINUTE);
  expect(clock.pendingCount).toBe(0);
  editor.close();
  expect(await ended).toBe(0);
});
