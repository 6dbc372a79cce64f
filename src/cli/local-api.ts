/** The hub's HTTP API over its local socket: the owner by file permission (contract §1). */

import { readFile } from "node:fs/promises";
import { request } from "node:http";
import type { Paths } from "../config/paths.ts";
import { isObject, numberAt, stringAt } from "../protocol/json.ts";
import { UnreachableError, UsageError } from "./exit.ts";

export interface ApiResponse {
  readonly status: number;
  readonly body: unknown;
}

/** Where the hub says it listens, from `run/hub.json`; undefined when none is running. */
export interface HubInfo {
  readonly pid: number;
  readonly host: string;
  readonly port: number;
  readonly basePath: string;
  readonly tls: boolean;
  readonly version: string;
  readonly startedAt: number;
}

/** What stands in the file; undefined when it names no process. The rest may be another version's: `stop` needs the pid alone. */
function readInfo(value: unknown): HubInfo | undefined {
  if (!isObject(value)) return undefined;
  const pid = numberAt(value, "pid");
  if (pid === undefined) return undefined;
  return {
    ...value,
    pid,
    host: stringAt(value, "host") ?? "unknown",
    port: numberAt(value, "port") ?? 0,
    basePath: stringAt(value, "basePath") ?? "",
    tls: value["tls"] === true,
    version: stringAt(value, "version") ?? "unknown",
    startedAt: numberAt(value, "startedAt") ?? 0,
  };
}

export async function readHubInfo(paths: Paths): Promise<HubInfo | undefined> {
  try {
    return readInfo(JSON.parse(await readFile(paths.hubInfo, "utf8")));
  } catch {
    return undefined;
  }
}

/** One request; rejects with `UnreachableError` when no hub answers. */
export function callHub(paths: Paths, method: string, path: string, body?: unknown): Promise<ApiResponse> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers =
      text === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
    const outgoing = request({ socketPath: paths.apiSocket, method, path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, body: parse(Buffer.concat(chunks).toString("utf8")) }),
      );
    });
    outgoing.on("error", (error) =>
      reject(new UnreachableError("No hub is running: start one with acp-hub serve", { cause: error })),
    );
    outgoing.setTimeout(15_000, () => outgoing.destroy(new Error("the hub does not answer")));
    outgoing.end(text);
  });
}

/** The body of a successful answer, or an error with the hub's own words. */
export async function callHubOk(paths: Paths, method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await callHub(paths, method, path, body);
  if (response.status < 400) return response.body;
  throw refusalOf(response.status, response.body);
}

/** In the hub's own words. What it calls a bad request, a person typed. */
export function refusalOf(status: number, body: unknown): Error {
  const detail = (isObject(body) ? stringAt(body, "detail") : undefined) ?? `status ${status}`;
  return status === 400 ? new UsageError(detail) : new Error(detail);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
