/** The app's files over real HTTP: as they were shipped (packed, without the plain one), in every form a client may want. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type IncomingHttpHeaders, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readWebFiles } from "../../../src/hub/http/web-files.ts";
import { webRoutes } from "../../../src/hub/http/web-routes.ts";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";

const PAGE = `<!doctype html>${"<p>again</p>".repeat(100)}`;
const SCRIPT = "export const words = 'wörter, again and again';\n".repeat(200);
const PICTURE = Buffer.from(Array.from({ length: 3000 }, (_, index) => (index * 7919) % 251));

interface Download {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** As it came over the wire. */
  readonly bytes: Buffer;
  /** Unpacked by what the answer says of itself. */
  readonly text: string;
}

function unpacked(bytes: Buffer, coding: string | undefined): string {
  if (bytes.length === 0 || coding === undefined) return bytes.toString("utf8");
  return (coding === "br" ? brotliDecompressSync(bytes) : gunzipSync(bytes)).toString("utf8");
}

describe.each([
  { where: "at the root", basePath: "" },
  { where: "under a base path", basePath: "/hub" },
])("files of the app, $where", ({ basePath }) => {
  let harness: HubHarness;
  let dir: string;

  const get = (path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Download> =>
    new Promise((resolve, reject) => {
      const asked = request({ host: "127.0.0.1", port: harness.port, path: basePath + path, method, headers });
      asked.on("error", reject);
      asked.on("response", (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const bytes = Buffer.concat(chunks);
          const text = unpacked(bytes, response.headers["content-encoding"]);
          resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes, text });
        });
      });
      asked.end();
    });

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), "acp-hub-web-"));
    mkdirSync(join(dir, "assets"));
    mkdirSync(join(dir, "icons"));
    for (const [name, text] of [
      ["index.html", PAGE],
      ["sw.js", SCRIPT],
      ["assets/a-12345678.js", SCRIPT],
    ] as const) {
      writeFileSync(join(dir, `${name}.br`), brotliCompressSync(text));
      writeFileSync(join(dir, `${name}.gz`), gzipSync(text));
    }
    writeFileSync(join(dir, "assets/small-12345678.js"), "export {};");
    writeFileSync(join(dir, "icons/icon-192.png"), PICTURE);
    const files = await readWebFiles(dir);
    harness = await startHub({ basePath, routes: () => [webRoutes(files)] });
  });
  afterAll(async () => {
    await harness.stop();
    rmSync(dir, { recursive: true });
  });

  it.each([
    ["gzip, deflate, br, zstd", "br"],
    ["gzip, deflate", "gzip"],
    ["*", "br"],
    ["br;q=0, *;q=0.1", "gzip"],
    ["identity;q=0, gzip", "gzip"],
    ["identity", undefined],
    ["gzip;q=0, br;q=0.0", undefined],
    ["zstd", undefined],
  ] as const)("Accept-Encoding: %s gets %s, and the same in the end", async (accepted, coding) => {
    for (const [path, text] of [
      ["/", PAGE],
      ["/index.html", PAGE],
      ["/sw.js", SCRIPT],
      ["/assets/a-12345678.js", SCRIPT],
    ] as const) {
      const answer = await get(path, { "accept-encoding": accepted });
      expect(answer).toMatchObject({ status: 200, text });
      expect(answer.headers["content-encoding"], path).toBe(coding);
      expect(answer.headers["vary"]).toBe("Origin, Accept-Encoding");
      expect(Number(answer.headers["content-length"])).toBe(answer.bytes.length);
      if (coding !== undefined) expect(answer.bytes.length).toBeLessThan(text.length / 4);
    }
  });

  it("who names nothing gets it as it is", async () => {
    const answer = await get("/assets/a-12345678.js");
    expect(answer.text).toBe(SCRIPT);
    expect(answer.headers).not.toHaveProperty("content-encoding");
  });

  it("what packing does not pay for is sent as it is, whatever is taken", async () => {
    for (const [path, type, bytes] of [
      ["/icons/icon-192.png", "image/png", PICTURE],
      ["/assets/small-12345678.js", "text/javascript; charset=utf-8", Buffer.from("export {};")],
    ] as const) {
      const answer = await get(path, { "accept-encoding": "gzip, br" });
      expect(answer.bytes.equals(bytes), path).toBe(true);
      expect(answer.headers).toMatchObject({ "content-type": type, vary: "Origin" });
      expect(answer.headers).not.toHaveProperty("content-encoding");
    }
  });

  it("a packed file has no address of its own", async () => {
    for (const path of ["/assets/a-12345678.js.br", "/assets/a-12345678.js.gz", "/index.html.br"])
      expect((await get(path)).status, path).toBe(404);
  });

  it("names with their content in them are kept for good; the page and the worker are asked for again", async () => {
    for (const path of ["/assets/a-12345678.js", "/assets/small-12345678.js"])
      expect((await get(path)).headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    for (const path of ["/", "/index.html", "/sw.js", "/icons/icon-192.png"])
      expect((await get(path)).headers["cache-control"]).toBe("no-cache");
  });

  it("every form has its own mark, and who has that form is not sent it again", async () => {
    const marks = new Set<string>();
    for (const accepted of ["br", "gzip", "identity"]) {
      const first = await get("/", { "accept-encoding": accepted });
      const etag = String(first.headers["etag"]);
      marks.add(etag);
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
        const again = await get("/", { "accept-encoding": accepted, "if-none-match": known });
        expect(again, known).toMatchObject({ status: 304, text: "" });
        expect(again.headers).toMatchObject({ etag, vary: "Origin, Accept-Encoding", "cache-control": "no-cache" });
        expect(again.headers).not.toHaveProperty("content-encoding");
      }
      const changed = await get("/", { "accept-encoding": accepted, "if-none-match": '"of the build before"' });
      expect(changed).toMatchObject({ status: 200, text: PAGE });
    }
    expect(marks.size).toBe(3);
    // Another form is other bytes: what a cache has of one is not what it would be sent of another.
    const br = String((await get("/", { "accept-encoding": "br" })).headers["etag"]);
    expect((await get("/", { "accept-encoding": "gzip", "if-none-match": br })).status).toBe(200);
  });

  it("HEAD tells what GET would send", async () => {
    for (const accepted of ["br", "gzip", "identity"]) {
      const headers = { "accept-encoding": accepted };
      const [whole, head] = [await get("/sw.js", headers), await get("/sw.js", headers, "HEAD")];
      expect(head).toMatchObject({ status: 200, text: "" });
      for (const name of ["content-encoding", "content-length", "content-type", "etag", "vary", "cache-control"])
        expect(head.headers[name], name).toBe(whole.headers[name]);
      const known = { ...headers, "if-none-match": String(whole.headers["etag"]) };
      expect((await get("/sw.js", known, "HEAD")).status).toBe(304);
    }
  });

  it("does not do ranges: whoever asks for one gets the whole", async () => {
    const answer = await get("/sw.js", { "accept-encoding": "gzip", range: "bytes=0-9" });
    expect(answer).toMatchObject({ status: 200, text: SCRIPT });
    expect(answer.headers).not.toHaveProperty("content-range");
  });

  it("the page's policy stands on every form", async () => {
    for (const accepted of ["br", "gzip", "identity"])
      expect((await get("/", { "accept-encoding": accepted })).headers["content-security-policy"]).toContain(
        "default-src 'none'",
      );
  });
});
