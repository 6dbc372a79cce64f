/** HTTP with every header as the test wants it (`fetch` owns Host and Origin), and raw bytes for what is no HTTP at all. */
import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { connect } from "node:net";

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body when it is a JSON object, else empty. */
  readonly body: Record<string, unknown>;
}

export interface Asked {
  readonly method?: string;
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, unless it is a string. */
  readonly body?: unknown;
  /** The answer counts as soon as its head is there: for streams. */
  readonly isHeadOnly?: boolean;
}

export function ask(port: number, path: string, asked: Asked = {}): Promise<Answer> {
  const { method = "GET", token, headers, body, isHeadOnly } = asked;
  const content = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  const isJson = body !== undefined && typeof body !== "string";
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      host: "127.0.0.1",
      port,
      path,
      method,
      agent: false,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(isJson && { "content-type": "application/json" }),
        ...(content !== undefined && { "content-length": Buffer.byteLength(content) }),
        ...headers,
      },
    });
    request.setTimeout(20_000, () => request.destroy(new Error(`${method} ${path} hangs`)));
    request.on("error", reject);
    request.on("response", (response) => {
      let text = "";
      const done = (): void =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, body: objectOf(text) });
      if (isHeadOnly === true) {
        done();
        request.destroy();
        return;
      }
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", done);
      response.on("error", reject);
    });
    request.end(content);
  });
}

function objectOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}

/** Sends bytes, ends its half, and gives what came until the other side closed; rejects when it never does. */
export function exchange(port: number, bytes: string | Buffer, limitMs = 15_000): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let text = "";
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`no end within ${limitMs} ms; so far: ${JSON.stringify(text.slice(0, 300))}`));
    }, limitMs);
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
    });
    // A reset is an end as well.
    socket.on("error", () => undefined);
    socket.on("close", () => {
      clearTimeout(timer);
      resolve(text);
    });
    socket.on("connect", () => socket.end(bytes));
  });
}

/** Asks for a WebSocket with these headers beside the usual ones (or in their place) and gives the status of the answer. */
export function upgradeStatus(port: number, path: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const lines = Object.entries({
    Host: `127.0.0.1:${port}`,
    Connection: "Upgrade",
    Upgrade: "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    socket.setTimeout(15_000, () => socket.destroy(new Error("no answer to an upgrade")));
    let text = "";
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("closed without an answer")));
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      const status = /^HTTP\/1\.1 (\d{3})[^\n]*\n/.exec(text)?.[1];
      if (status === undefined) return;
      socket.destroy();
      resolve(Number(status));
    });
    socket.write(`GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
  });
}
