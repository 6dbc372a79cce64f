import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { puppetAgent } from "../../support/puppet-agent.ts";
import { rawClient } from "../../support/raw-client.ts";

const PING_MS = 30_000;
const WAIT = { timeout: 10_000 };

interface Joined {
  readonly pings: () => number;
  readonly isClosed: () => boolean;
  /** Resolves when the hub has read all this client wrote so far, its pongs too. */
  heard(): Promise<void>;
}

describe("a socket whose other end is gone without a word", () => {
  let clock: ManualClock;
  let harness: HubHarness;
  const opened: WebSocket[] = [];
  beforeEach(async () => {
    clock = new ManualClock();
    harness = await startHub({ scheduler: clock });
    await rawClient(harness.bridge(puppetAgent().backend, "i-1").editor).initialize();
    await expect.poll(() => harness.hub.registry.get("i-1")?.mirror.agentInfo, WAIT).toBeDefined();
  });
  afterEach(async () => {
    for (const ws of opened.splice(0)) ws.terminate();
    await harness.stop();
  });

  const present = (): number => harness.hub.registry.get("i-1")?.mirror.connectionCount ?? -1;

  /** An initialized client; one that is not alive takes pings and says nothing. */
  async function join(isAlive: boolean): Promise<Joined> {
    const ws = new WebSocket(`ws://127.0.0.1:${harness.port}/acp?instance=i-1`, {
      headers: { authorization: `Bearer viewer:${isAlive}` },
      autoPong: isAlive,
    });
    opened.push(ws);
    let pings = 0;
    ws.on("ping", () => {
      pings += 1;
    });
    ws.on("error", () => undefined);
    const answered = new Promise((resolve) => ws.once("message", resolve));
    await new Promise((resolve) => ws.once("open", resolve));
    ws.send('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}');
    await answered;
    return {
      pings: () => pings,
      isClosed: () => ws.readyState === WebSocket.CLOSED,
      heard: () =>
        new Promise((resolve) => {
          ws.once("pong", () => resolve());
          ws.ping();
        }),
    };
  }

  it("L4 is dropped after two pings without an answer; one that answers stays, however long it is silent", async () => {
    const dead = await join(false);
    const quiet = await join(true);
    expect(present()).toBe(2);
    for (const count of [1, 2]) {
      await clock.advance(PING_MS);
      await expect.poll(() => [dead.pings(), quiet.pings()], WAIT).toEqual([count, count]);
      await quiet.heard();
      expect(dead.isClosed()).toBe(false);
    }
    await clock.advance(PING_MS);
    await expect.poll(present, WAIT).toBe(1);
    await expect.poll(dead.isClosed, WAIT).toBe(true);
    for (let count = 4; count <= 12; count += 1) {
      await clock.advance(PING_MS);
      await expect.poll(quiet.pings, WAIT).toBe(count);
      await quiet.heard();
    }
    expect(present()).toBe(1);
  });

  it("C4.upgrade rows 136 139: one that dies in its handshake, or in the middle of a body, leaves nothing behind", async () => {
    const host = `Host: 127.0.0.1:${harness.port}\r\n`;
    const upgradeHead =
      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Bearer viewer:gone\r\n";
    for (let times = 0; times < 20; times += 1) {
      await broken(`GET /acp?instance=i-1 HTTP/1.1\r\n${host}${upgradeHead}\r\n`);
      await broken(
        `POST /api/interactions/x/answer HTTP/1.1\r\n${host}Authorization: Bearer driver:gone\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"ans`,
      );
    }
    await expect.poll(present, WAIT).toBe(0);
    await expect.poll(() => harness.hub.sockets.count, WAIT).toBe(0);
    await join(true);
    await expect.poll(present, WAIT).toBe(1);

    /** Sends bytes and is gone, without waiting for an answer. */
    function broken(bytes: string): Promise<void> {
      return new Promise((resolve) => {
        const socket = connect(harness.port, "127.0.0.1", () => socket.write(bytes, () => socket.resetAndDestroy()));
        socket.on("error", () => undefined);
        socket.on("close", () => resolve());
      });
    }
  });

  it("C6.limits who never initializes has ten seconds", async () => {
    const ws = new WebSocket(`ws://127.0.0.1:${harness.port}/acp?instance=i-1`, {
      headers: { authorization: "Bearer viewer:idle" },
    });
    opened.push(ws);
    await new Promise((resolve) => ws.once("open", resolve));
    const closed = new Promise<number>((resolve) => ws.once("close", resolve));
    await clock.advance(10_000);
    expect(present()).toBe(1);
    await clock.advance(2000);
    expect(await closed).toBe(1008);
  });
});
