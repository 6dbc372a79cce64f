/**
 * The owner's API whether a hub runs or not: over its local socket, or over a hub put together just for this command that listens
 * nowhere. Recovery through the local command line always works.
 */
import type { Paths } from "../config/paths.ts";
import { UnreachableError } from "./exit.ts";
import { callHubOk, refusalOf } from "./local-api.ts";

export interface OwnerApi {
  /** The body of a successful answer, or an error in the hub's words. */
  call(method: "GET" | "POST" | "PATCH" | "DELETE", path: string, body?: unknown): Promise<unknown>;
  close(): Promise<void>;
}

export async function ownerApi(paths: Paths): Promise<OwnerApi> {
  try {
    await callHubOk(paths, "GET", "/healthz");
    return { call: (method, path, body) => callHubOk(paths, method, path, body), close: () => Promise.resolve() };
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
    return offlineApi(paths);
  }
}

async function offlineApi(paths: Paths): Promise<OwnerApi> {
  const { openOffline } = await import("../hub/offline.ts");
  const api = await openOffline(paths, (message) => process.stderr.write(`acp-hub: ${message}\n`));
  return {
    async call(method, path, body) {
      const { status, text } = await api.call(method, path, body as object | undefined);
      const answer: unknown = text === "" ? undefined : JSON.parse(text);
      if (status < 400) return answer;
      throw refusalOf(status, answer);
    },
    close: () => api.close(),
  };
}
