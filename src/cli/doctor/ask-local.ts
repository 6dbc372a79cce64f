/** One GET over a local socket or port, for checks: no answer is an answer. */
import { request } from "node:http";
import { request as tlsRequest } from "node:https";

export interface LocalAnswer {
  readonly status: number;
  readonly text: string;
  /** Its clock, of the Date header; NaN without one. */
  readonly date: number;
}

const LIMIT_MS = 2000;
const TEXT_MAX = 262_144;

/** Undefined when nobody answers in time. */
export const askLocal = (socketPath: string, path: string): Promise<LocalAnswer | undefined> =>
  ask({ socketPath, path }, false);

/** Over the network port, with a Host header of its own. Certificates are not checked: this is the way to ourselves. */
export const askPort = (
  host: string,
  port: number,
  isTls: boolean,
  path: string,
  hostHeader: string,
): Promise<LocalAnswer | undefined> => ask({ host, port, path, headers: { host: hostHeader } }, isTls);

interface Target {
  readonly socketPath?: string;
  readonly host?: string;
  readonly port?: number;
  readonly path: string;
  readonly headers?: Record<string, string>;
}

function ask(target: Target, isTls: boolean): Promise<LocalAnswer | undefined> {
  return new Promise((resolve) => {
    const options = { ...target, timeout: LIMIT_MS, agent: false };
    const outgoing = isTls ? tlsRequest({ ...options, rejectUnauthorized: false }) : request(options);
    outgoing.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text = (text + chunk).slice(0, TEXT_MAX);
      });
      response.on("error", () => resolve(undefined));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, text, date: Date.parse(response.headers.date ?? "") }),
      );
    });
    outgoing.on("timeout", () => outgoing.destroy());
    outgoing.on("error", () => resolve(undefined));
    outgoing.on("close", () => resolve(undefined));
    outgoing.end();
  });
}
