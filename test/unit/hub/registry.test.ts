import { beforeEach, describe, expect, it } from "vitest";
import { Registry } from "../../../src/hub/registry.ts";
import type { Frame } from "../../../src/protocol/envelope.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { LINK, type LinkHello } from "../../../src/protocol/link.ts";
import { memoryPair } from "../../../src/transport/memory.ts";
import { ManualClock, settled } from "../../support/manual-clock.ts";

const PID = 4242;
const HOUR = 3_600_000;
const HELLO: LinkHello = {
  protocol: 1,
  features: [],
  bridgeVersion: "0.0.0",
  instanceId: "i-1",
  pid: PID,
  startedAt: 1,
  workspace: "/work",
  name: "agent",
  origin: "editor",
};

/** A bridge that answers pings as long as it is told to, and the registry that holds it, all under one clock. */
class Scene {
  readonly clock = new ManualClock();
  readonly events: string[] = [];
  isProcessAlive = true;
  isAnswering = true;
  readonly registry = new Registry(
    {
      closeConnection: () => undefined,
      observe: () => undefined,
      paramsFilter: () => (_method, params) => ({ ok: true, params, ignored: [] }),
      hubVersion: "0.0.0",
      limits: LIMITS,
      history: undefined,
      recordOf: () => undefined,
    },
    {
      onAdded: () => this.events.push("added"),
      onChanged: (instance) => this.events.push(instance.state),
      onRemoved: () => this.events.push("removed"),
      onRemoteToken: () => undefined,
    },
    { scheduler: this.clock, isAlive: (pid) => pid === PID && this.isProcessAlive },
  );

  /** Gives what cuts the link. */
  dial(): () => void {
    const [hubSide, bridgeSide] = memoryPair();
    const session = this.registry.onBridge(HELLO, hubSide);
    hubSide.start({ onFrame: (frame) => session.onFrame(frame), onJunk: () => undefined, onClose: () => undefined });
    bridgeSide.start({
      onFrame: (frame) => {
        if (this.isAnswering && frame.kind === "request" && frame.msg.method === LINK.ping)
          bridgeSide.send(JSON.stringify({ jsonrpc: "2.0", id: frame.msg.id, result: {} }));
      },
      onJunk: () => undefined,
      onClose: () => undefined,
    });
    session.onOpen();
    return () => session.onClose();
  }

  get state(): string | undefined {
    return this.registry.get("i-1")?.state;
  }
}

describe("the state of an instance", () => {
  let scene: Scene;
  beforeEach(() => {
    scene = new Scene();
  });

  it("L5 the link ends and the process is dead: gone at once", () => {
    const cut = scene.dial();
    scene.isProcessAlive = false;
    cut();
    expect(scene.registry.list()).toEqual([]);
    expect(scene.events).toEqual(["added", "removed"]);
  });

  it("L5 the link ends and the process lives: unreachable, kept for ten seconds to the millisecond", async () => {
    const cut = scene.dial();
    cut();
    expect(scene.state).toBe("unreachable");
    await scene.clock.advance(9999);
    expect(scene.state).toBe("unreachable");
    await scene.clock.advance(1);
    expect(scene.registry.list()).toEqual([]);
    expect(scene.events).toEqual(["added", "unreachable", "removed"]);
  });

  it("L5 a process that ends while it is unreachable is gone within half a second", async () => {
    const cut = scene.dial();
    cut();
    await scene.clock.advance(3000);
    scene.isProcessAlive = false;
    await scene.clock.advance(500);
    expect(scene.registry.list()).toEqual([]);
  });

  it("L5 one that dials again in time is up, the same instance, and nothing ends it later", async () => {
    const cut = scene.dial();
    const before = scene.registry.get("i-1");
    cut();
    await scene.clock.advance(9000);
    scene.dial();
    expect(scene.registry.get("i-1")).toBe(before);
    expect(scene.state).toBe("up");
    await scene.clock.advance(HOUR);
    expect(scene.state).toBe("up");
    expect(scene.events).toEqual(["added", "unreachable", "up"]);
  });

  it("L5 the end of a link that was replaced means nothing", async () => {
    const cutFirst = scene.dial();
    scene.dial();
    cutFirst();
    await scene.clock.advance(HOUR);
    expect(scene.state).toBe("up");
  });

  it("L5 no pong for fifteen seconds: unresponsive, listed, never evicted, and up with the first sign of life", async () => {
    scene.dial();
    await scene.clock.advance(4999);
    scene.isAnswering = false;
    await scene.clock.advance(1);
    await scene.clock.advance(14_999);
    expect(scene.state).toBe("up");
    await scene.clock.advance(1);
    expect(scene.state).toBe("unresponsive");
    await scene.clock.advance(24 * HOUR);
    expect(scene.state).toBe("unresponsive");
    expect(scene.registry.list()).toHaveLength(1);
    expect(scene.events).toEqual(["added", "unresponsive"]);
  });

  it("L5 an answer, however late, makes it up again; then the count begins anew", async () => {
    const link = heldLink(scene);
    await scene.clock.advance(HOUR);
    expect(scene.state).toBe("unresponsive");
    expect(link.pings).toHaveLength(1);
    link.answer();
    await settled();
    expect(scene.state).toBe("up");
    await scene.clock.advance(19_999);
    expect(scene.state).toBe("up");
    await scene.clock.advance(1);
    expect(scene.state).toBe("unresponsive");
    expect(scene.events).toEqual(["added", "unresponsive", "up", "unresponsive"]);
  });

  it("L5 an unresponsive one whose link ends is unreachable, and gone in time as any", async () => {
    scene.isAnswering = false;
    const cut = scene.dial();
    await scene.clock.advance(30_000);
    expect(scene.state).toBe("unresponsive");
    cut();
    expect(scene.state).toBe("unreachable");
    await scene.clock.advance(10_000);
    expect(scene.registry.list()).toEqual([]);
  });

  it("L5 a hub that stops leaves no timer", async () => {
    const cut = scene.dial();
    cut();
    scene.registry.dispose();
    expect(scene.clock.pendingCount).toBe(0);
  });
});

/** A bridge that keeps the pings it gets. */
function heldLink(scene: Scene): { readonly pings: Frame[]; answer(): void } {
  const [hubSide, bridgeSide] = memoryPair();
  const session = scene.registry.onBridge(HELLO, hubSide);
  const pings: Frame[] = [];
  hubSide.start({ onFrame: (frame) => session.onFrame(frame), onJunk: () => undefined, onClose: () => undefined });
  bridgeSide.start({
    onFrame: (frame) => {
      if (frame.kind === "request" && frame.msg.method === LINK.ping) pings.push(frame);
    },
    onJunk: () => undefined,
    onClose: () => undefined,
  });
  session.onOpen();
  return {
    pings,
    answer: () => {
      const first = pings.shift();
      if (first?.kind === "request") bridgeSide.send(JSON.stringify({ jsonrpc: "2.0", id: first.msg.id, result: {} }));
    },
  };
}
