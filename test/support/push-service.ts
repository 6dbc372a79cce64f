/**
 * The two other ends of Web Push, written from the RFCs and apart from the library the hub sends with: a push service on TLS that
 * judges what it is sent (RFC 8030, 8292), and the browser that holds the keys and opens it (RFC 8291, 8188).
 */
import { createDecipheriv, createECDH, type ECDH, hkdfSync, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { importJWK, type JWTPayload, jwtVerify } from "jose";
import { makeCertificate } from "./proxies.ts";

const NAME = "push.example.test";

export interface ReceivedPush {
  /** Which subscription: the end of its endpoint. */
  readonly to: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface ServiceAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export class PushService {
  readonly received: ReceivedPush[] = [];
  /** What is answered next, in this order; then 201. */
  readonly answers: ServiceAnswer[] = [];
  readonly #certificate = makeCertificate(NAME);
  #server: Server | undefined;
  #port = 0;

  async start(): Promise<void> {
    const { ca, keyFile } = this.#certificate;
    const server = createServer({ cert: ca, key: readFileSync(keyFile) }, (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const to = (request.url ?? "").split("/").at(-1) ?? "";
        this.received.push({ to, headers: request.headers, body: Buffer.concat(chunks) });
        const { status, headers } = this.answers.shift() ?? { status: 201 };
        response.writeHead(status, { ...headers }).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  get origin(): string {
    return `https://${NAME}:${this.#port}`;
  }

  endpoint(to: string): string {
    return `${this.origin}/send/${to}`;
  }

  /** Lets a hub find it and trust its certificate. */
  get env(): Record<string, string> {
    const lookup = fileURLToPath(new URL("./push-lookup.mjs", import.meta.url));
    return { NODE_OPTIONS: `--import=${lookup}`, NODE_EXTRA_CA_CERTS: this.#certificate.certFile };
  }

  async stop(): Promise<void> {
    const server = this.#server;
    server?.closeAllConnections();
    await new Promise<void>((resolve) => (server === undefined ? resolve() : server.close(() => resolve())));
    this.#certificate.remove();
  }
}

/** A browser that subscribed. */
export class PushReceiver {
  readonly #keys: ECDH = createECDH("prime256v1");
  readonly #auth = randomBytes(16);

  constructor() {
    this.#keys.generateKeys();
  }

  /** As `JSON.stringify(subscription)` gives it. */
  subscription(endpoint: string): { endpoint: string; expirationTime: null; keys: { p256dh: string; auth: string } } {
    const keys = { p256dh: this.#keys.getPublicKey("base64url"), auth: this.#auth.toString("base64url") };
    return { endpoint, expirationTime: null, keys };
  }

  /** The text of one push. Throws when it was not made for this browser, or was changed. */
  open(body: Buffer): string {
    const salt = body.subarray(0, 16);
    const recordBytes = body.readUInt32BE(16);
    const idBytes = body.readUInt8(20);
    const sender = body.subarray(21, 21 + idBytes);
    const sealed = body.subarray(21 + idBytes);
    if (sealed.length > recordBytes) throw new Error("more than one record");
    const own = this.#keys.getPublicKey();
    const info = Buffer.concat([Buffer.from("WebPush: info\0"), own, sender]);
    const input = Buffer.from(hkdfSync("sha256", this.#keys.computeSecret(sender), this.#auth, info, 32));
    const derived = (name: string, bytes: number): Buffer =>
      Buffer.from(hkdfSync("sha256", input, salt, Buffer.from(`Content-Encoding: ${name}\0`), bytes));
    const decipher = createDecipheriv("aes-128-gcm", derived("aes128gcm", 16), derived("nonce", 12));
    decipher.setAuthTag(sealed.subarray(-16));
    const plain = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
    const end = plain.lastIndexOf(2);
    if (end < 0 || plain.subarray(end + 1).some((byte) => byte !== 0)) throw new Error("not the last record");
    return plain.subarray(0, end).toString("utf8");
  }
}

/** What the hub claims of itself, once its signature is good: `Authorization: vapid t=…, k=…`. */
export async function verifyVapid(
  authorization: string,
  audience: string,
): Promise<{ key: string; claims: JWTPayload }> {
  const match = /^vapid t=([\w.-]+), ?k=([\w-]+)$/.exec(authorization);
  if (match === null) throw new Error(`not a VAPID header: ${authorization}`);
  const [, token = "", key = ""] = match;
  const point = Buffer.from(key, "base64url");
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString("base64url"));
  const { payload } = await jwtVerify(
    token,
    await importJWK({ kty: "EC", crv: "P-256", x: x ?? "", y: y ?? "" }, "ES256"),
    {
      audience,
      algorithms: ["ES256"],
    },
  );
  return { key, claims: payload };
}
