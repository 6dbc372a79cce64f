/** One HTTP call to the hub: credential, JSON, problem+json. */
import { isObject, type Json, type JsonObject, stringAt } from "../../protocol/json.ts";
import type { Credential } from "./credential.ts";

/** The hub answered with an error status, or could not be reached at all (`status` 0). */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  /** The hub's own name for the case, where it gave one. */
  readonly code: string | undefined;
  /** The whole problem document. */
  readonly problem: JsonObject;

  constructor(status: number, problem: JsonObject, options?: ErrorOptions) {
    super(stringAt(problem, "detail") ?? stringAt(problem, "title") ?? `The hub answered ${status}`, options);
    this.status = status;
    this.code = stringAt(problem, "code");
    this.problem = problem;
  }
}

/** The part of a fetch request that is used. Named here because the runtimes' own types differ. */
export interface FetchInit {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly credentials?: "same-origin";
  readonly cache?: "no-store";
  /** Sent even when the page goes away meanwhile. */
  keepalive?: true;
  body?: string;
  signal?: AbortSignal;
}

export type Fetch = (url: string, init: FetchInit) => Promise<Response>;

export interface HttpOptions {
  /** Where the hub lives, ending in "/". */
  readonly baseUrl: string;
  readonly fetch: Fetch;
  readonly credential: Credential;
}

export interface CallInit {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly body?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly keepalive?: true;
}

/** Sends one request; a 401 is tried once more after the credential renewed itself. Fails with `ApiError` only. */
export async function send(options: HttpOptions, path: string, init: CallInit = {}): Promise<Response> {
  const response = await attempt(options, path, init);
  if (response.status === 401 && (await options.credential.renew())) return checked(await attempt(options, path, init));
  return checked(response);
}

/** As `send`, with the answer read as JSON; undefined for an empty one. */
export async function sendJson(options: HttpOptions, path: string, init: CallInit = {}): Promise<Json | undefined> {
  return readJson(await send(options, path, init));
}

export async function readJson(response: Response): Promise<Json | undefined> {
  const text = await response.text();
  return text === "" ? undefined : (JSON.parse(text) as Json);
}

async function attempt(options: HttpOptions, path: string, init: CallInit): Promise<Response> {
  const headers: Record<string, string> = {
    Accept: "application/json",
    ...options.credential.headers(),
    ...init.headers,
  };
  const request: FetchInit = { method: init.method ?? "GET", headers, credentials: "same-origin", cache: "no-store" };
  if (init.body !== undefined) {
    headers["Content-Type"] = "application/json";
    request.body = JSON.stringify(init.body);
  }
  if (init.signal !== undefined) request.signal = init.signal;
  if (init.keepalive === true) request.keepalive = true;
  try {
    return await options.fetch(options.baseUrl + path, request);
  } catch (error) {
    throw new ApiError(0, { title: "The hub cannot be reached" }, { cause: error });
  }
}

async function checked(response: Response): Promise<Response> {
  if (response.ok) return response;
  let problem: JsonObject = {};
  try {
    const body: unknown = await response.json();
    if (isObject(body)) problem = body;
  } catch {
    // A proxy's error page: the status says enough.
  }
  throw new ApiError(response.status, problem);
}
