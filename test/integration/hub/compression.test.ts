/** `http.compression`: large messages go compressed to clients that offer it, over the real hub and real sockets. */
import { connect } from "node:net";
import { constants, deflateRawSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { type ClientOptions, WebSocket } from "ws";
import { type Config, DEFAULT_CONFIG } from "../../../src/config/config.ts";
import { CLOSE } from "../../../src/protocol/close-codes.ts";
import { webSocketTransport } from "../../../src/transport/websocket.ts";
import { makeCertificate } from "../../support/proxies.ts";
import { puppetAgent } from "../../support/puppet-agent.ts";
import { RawClient, rawClient } from "../../support/raw-client.ts";
import { type SecureHub, startSecureHub } from "../../support/secure-hub.ts";
import { loadOf } from "../../support/stage.ts";

const LONG = "a line of a diff that looks like the others\n".repeat(2000);
const COMPRESSED_TEXT = 0xc1;
const ON: Partial<Config> = { http: { origins: [], hosts: [], compression: true } };

let hub: SecureHub | undefined;
afterEach(() => hub?.stop());

/** A hub with a session whose agent has said something long and something short. */
async function stage(changes: Partial<Config>) {
  hub = await startSecureHub(changes);
  const agent = puppetAgent();
  const { editor } = hub.bridge(agent.backend);
  const primary = rawClient(editor);
  await primary.initialize({});
  const sessionId = String((await primary.call("session/new", { cwd: hub.workspace, mcpServers: [] }))["sessionId"]);
  const say = (text: string) =>
    agent.update(sessionId, { sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  const { running } = hub;
  await expect.poll(() => running.hub.registry.list()[0]?.mirror.holdsSession(sessionId)).toBe(true);
  const { token } = await hub.token("driver");
  return { hub, sessionId, say, token };
}

type Stage = Awaited<ReturnType<typeof stage>>;

interface Wire {
  readonly client: RawClient;
  readonly ws: WebSocket;
  /** Bytes that came over the socket so far. */
  readonly bytes: () => number;
}

async function open({ hub, token }: Stage, options: ClientOptions = {}): Promise<Wire> {
  const scheme = hub.running.tls === undefined ? "ws" : "wss";
  const url = `${scheme}://127.0.0.1:${hub.port}/acp`;
  const headers = { authorization: `Bearer ${token}` };
  const ws = new WebSocket(url, { headers, rejectUnauthorized: false, ...options });
  let socket: { bytesRead: number } | undefined;
  ws.on("upgrade", (response) => {
    socket = response.socket;
  });
  await new Promise((resolve, reject) => {
    ws.once("open", resolve);
    ws.once("error", reject);
  });
  const client = new RawClient(webSocketTransport(ws));
  await client.initialize();
  return { client, ws, bytes: () => socket?.bytesRead ?? 0 };
}

async function whole(client: RawClient, text: string): Promise<void> {
  while (client.textOf("agent_message_chunk").length < text.length) await client.nextNotification("session/update");
  expect(client.textOf("agent_message_chunk")).toBe(text);
}

describe("compression for slow links", () => {
  it("a client that offers it gets the history and what is live in a fraction of the bytes", async () => {
    const it = await stage(ON);
    it.say(LONG);
    const { client, ws, bytes } = await open(it);
    expect(ws.extensions).toBe("permessage-deflate");
    await client.call("session/load", loadOf(it.sessionId));
    await whole(client, LONG);
    it.say("short");
    it.say(LONG);
    await whole(client, `${LONG}short${LONG}`);
    expect(bytes()).toBeLessThan(LONG.length / 4);
    client.close();
  });

  it("one that does not offer it gets everything plain, beside one that does", async () => {
    const it = await stage(ON);
    const plain = await open(it, { perMessageDeflate: false });
    const packed = await open(it);
    expect(plain.ws.extensions).toBe("");
    for (const { client } of [plain, packed]) await client.call("session/load", loadOf(it.sessionId));
    it.say(LONG);
    await Promise.all([whole(plain.client, LONG), whole(packed.client, LONG)]);
    expect(plain.bytes()).toBeGreaterThan(LONG.length);
    expect(packed.bytes()).toBeLessThan(LONG.length / 4);
    for (const { client } of [plain, packed]) client.close();
  });

  it("is off unless configured: an offer is not taken", async () => {
    const it = await stage({});
    const { client, ws } = await open(it);
    expect(ws.extensions).toBe("");
    client.close();
  });

  it("a client with a smaller window than ours is sent plain frames, which it can read", async () => {
    const it = await stage(ON);
    const { client, ws, bytes } = await open(it, { perMessageDeflate: { serverMaxWindowBits: 9 } });
    expect(ws.extensions).toBe("permessage-deflate");
    await client.call("session/load", loadOf(it.sessionId));
    it.say(LONG);
    await whole(client, LONG);
    expect(bytes()).toBeGreaterThan(LONG.length);
    client.close();
  });

  it("pings are answered and the close has its code while compressed messages flow", async () => {
    const it = await stage(ON);
    const { client, ws } = await open(it);
    await client.call("session/load", loadOf(it.sessionId));
    let pongs = 0;
    ws.on("pong", () => {
      pongs += 1;
    });
    for (let index = 0; index < 20; index += 1) {
      it.say(LONG);
      ws.ping();
    }
    await whole(client, LONG.repeat(20));
    await expect.poll(() => pongs).toBe(20);
    const closed = new Promise((resolve) => ws.once("close", resolve));
    it.hub.running.hub.sockets.each((socket) => socket.close(CLOSE.goingAway));
    expect(await closed).toBe(1001);
  });

  it("what a client sends compressed is read, also over TLS", async () => {
    const certificate = makeCertificate();
    const { certFile: cert, keyFile: key } = certificate;
    const it = await stage({ ...ON, tls: { cert, key, selfSigned: false } });
    certificate.remove();
    const { client, bytes } = await open(it, { perMessageDeflate: { threshold: 0 } });
    const before = bytes();
    it.say(LONG);
    await client.call("session/load", { ...loadOf(it.sessionId), cwd: `/${"long/".repeat(1000)}` });
    await whole(client, LONG);
    expect(bytes() - before).toBeLessThan(LONG.length / 4);
    client.close();
  });

  it("a message that inflates past the limit ends its connection with 1009, and nobody else's", async () => {
    const it = await stage({ ...ON, limits: { ...DEFAULT_CONFIG.limits, remoteFrameBytes: 65_536 } });
    const other = await open(it);
    const bomb = await bombed(it);
    expect(bomb).toBe(1009);
    it.say("still here");
    await other.client.call("session/load", loadOf(it.sessionId));
    await whole(other.client, "still here");
    other.client.close();
  });
});

/** Sends 64 MB of zeros in some 60 kB; resolves to the code of the close. */
function bombed({ hub, token }: Stage): Promise<number> {
  const packed = deflateRawSync(Buffer.alloc(67_108_864), { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, -4);
  const head = Buffer.alloc(14);
  head[0] = COMPRESSED_TEXT;
  head[1] = 0x80 | 127;
  head.writeBigUInt64BE(BigInt(packed.length), 2);
  return new Promise((resolve, reject) => {
    const socket = connect(hub.port, "127.0.0.1");
    let isOpen = false;
    socket.on("error", reject);
    socket.on("data", (data) => {
      if (!isOpen) {
        isOpen = true;
        expect(String(data)).toContain("permessage-deflate");
        socket.write(Buffer.concat([head, packed]));
        return;
      }
      if (data[0] !== 0x88) return;
      resolve(data.readUInt16BE(2));
      socket.destroy();
    });
    socket.write(
      [
        "GET /acp HTTP/1.1",
        `Host: 127.0.0.1:${hub.port}`,
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Extensions: permessage-deflate",
        `Authorization: Bearer ${token}`,
        "",
        "",
      ].join("\r\n"),
    );
  });
}
