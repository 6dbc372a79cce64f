import { describe, expect, it } from "vitest";
import { idleEnd } from "../../../src/hub/idle-end.ts";
import { ManualClock, settled } from "../../support/manual-clock.ts";

const HOUR = 3_600_000;

/** A hub with so many bridges and connections, and whether it has ended. */
class Scene {
  readonly clock = new ManualClock();
  readonly bridges: unknown[] = [];
  readonly sockets = { count: 0 };
  readonly streams = { count: 0 };
  isEnded = false;
  readonly watch: ReturnType<typeof idleEnd>;

  constructor(isOnDemand: boolean) {
    const { sockets, streams } = this;
    this.watch = idleEnd({ registry: { list: () => this.bridges }, sockets, streams }, isOnDemand, this.clock);
    void this.watch.ended.then(() => {
      this.isEnded = true;
    });
  }

  /** It ends an hour after this, and no sooner. */
  async expectEnd(): Promise<void> {
    await this.clock.advance(HOUR - 10_000);
    expect(this.isEnded).toBe(false);
    await this.clock.advance(20_000);
    expect(this.isEnded).toBe(true);
  }

  async expectKept(): Promise<void> {
    await this.clock.advance(24 * HOUR);
    expect(this.isEnded).toBe(false);
  }
}

describe("the end of a hub by itself", () => {
  it("L6 one that was started on demand ends after an hour with no bridge and no connection", async () => {
    const scene = new Scene(true);
    await scene.expectEnd();
    expect(scene.clock.pendingCount).toBe(0);
  });

  it("L6 a bridge keeps it", async () => {
    const scene = new Scene(true);
    scene.bridges.push({});
    await scene.expectKept();
    scene.bridges.pop();
    await scene.expectEnd();
  });

  it("L6 a connection keeps it", async () => {
    const scene = new Scene(true);
    scene.sockets.count = 1;
    await scene.expectKept();
    scene.sockets.count = 0;
    await scene.expectEnd();
  });

  it("L6 an app that shows its list, by an event stream alone, keeps it", async () => {
    const scene = new Scene(true);
    scene.streams.count = 1;
    await scene.expectKept();
    scene.streams.count = 0;
    await scene.expectEnd();
  });

  it("L6 one that was started by hand or as a service never ends by itself", async () => {
    const scene = new Scene(false);
    await scene.expectKept();
    expect(scene.clock.pendingCount).toBe(0);
  });

  it("L6 stopped for another reason, it watches no longer", async () => {
    const scene = new Scene(true);
    scene.watch.stop();
    await settled();
    expect(scene.clock.pendingCount).toBe(0);
  });
});
