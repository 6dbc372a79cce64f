/** Errors of the HTTP API: `application/problem+json` {type, title, status, detail, code} (contract §3). */
import { STATUS_CODES } from "node:http";
import type { FastifyReply } from "fastify";

export interface ProblemExtras {
  readonly code?: string;
  readonly retryAfterSeconds?: number;
  readonly [member: string]: unknown;
}

/** Thrown by routes; the error handler writes it. */
export class Problem extends Error {
  readonly status: number;
  readonly extras: ProblemExtras;

  constructor(status: number, detail: string, extras: ProblemExtras = {}) {
    super(detail);
    this.name = "Problem";
    this.status = status;
    this.extras = extras;
  }
}

export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  const { retryAfterSeconds, code, ...rest } = problem.extras;
  if (retryAfterSeconds !== undefined) reply.header("Retry-After", String(retryAfterSeconds));
  if (problem.status === 401) reply.header("WWW-Authenticate", 'Bearer realm="acp-hub"');
  return reply
    .code(problem.status)
    .type("application/problem+json")
    .send(
      JSON.stringify({
        type: "about:blank",
        title: STATUS_CODES[problem.status] ?? "Error",
        status: problem.status,
        detail: problem.message,
        ...(code !== undefined && { code }),
        ...rest,
      }),
    );
}
