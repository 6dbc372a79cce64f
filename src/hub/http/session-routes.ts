/** Closing and renaming a live session without a socket (contract §3). */
import type { FastifyRequest } from "fastify";
import type { AnswerBody } from "../../core/interaction/answer.ts";
import { ACP } from "../../protocol/acp.ts";
import type { RpcError } from "../../protocol/envelope.ts";
import { type HubErrorCode, RPC } from "../../protocol/errors.ts";
import { isObject, type JsonObject, stringAt } from "../../protocol/json.ts";
import { HUB_META } from "../../protocol/meta.ts";
import type { Instance } from "../instance.ts";
import { authorOf } from "../principal.ts";
import type { Registry } from "../registry.ts";
import { titleBody } from "./api/bodies.ts";
import { principalOf, type Routes } from "./app.ts";
import { instanceOr404 } from "./instance-routes.ts";
import { PROMPT } from "./needs.ts";
import { Problem } from "./problem.ts";
import { readBody } from "./read-body.ts";

export interface SessionRoutesOptions {
  readonly registry: Registry;
  readonly isStarting: () => boolean;
}

type SessionRequest = FastifyRequest<{ Params: { id: string; sid: string }; Body: unknown }>;

const ANSWER_MS = 10_000;

/**
 * `POST …/sessions/:sid/close` → 200 {closed:true}; 409 while a turn runs or a question is open, unless `{force:true}`.
 * `POST …/sessions/:sid/rename` {title} → 200 {title}: the agent's where it keeps titles, else the bridge's own.
 */
export function sessionRoutes(options: SessionRoutesOptions): Routes {
  const find = (request: SessionRequest) => {
    const { id, sid } = request.params;
    const instance = instanceOr404(options.registry, id, options.isStarting());
    const session = [...instance.mirror.sessions].find((each) => each.id === sid);
    if (session === undefined) throw new Problem(404, "No such session", { code: "unknown-session" });
    return { instance, session };
  };
  return (app) => {
    app.post("/api/instances/:id/sessions/:sid/close", PROMPT, async (request: SessionRequest) => {
      const { instance, session } = find(request);
      const isForced = isObject(request.body) && request.body["force"] === true;
      if (session.info.turn !== "idle" && !isForced)
        throw new Problem(409, "A turn is running: cancel it first", {
          code: "session-running" satisfies HubErrorCode,
        });
      // Forced on the link: the caller is nobody's last attached client, and says plainly what it wants.
      const params = { sessionId: session.id, _meta: { [HUB_META]: { force: true } } };
      await call(instance, ACP.sessionClose, params, request);
      return { closed: true };
    });
    app.post("/api/instances/:id/sessions/:sid/rename", PROMPT, async (request: SessionRequest) => {
      const { instance, session } = find(request);
      const { title } = readBody(titleBody, request);
      const result = await call(instance, ACP.sessionSetTitle, { sessionId: session.id, title }, request);
      return { title: stringAt(result, "title") ?? title };
    });
  };
}

/** The root's answer to a request of the caller's device; throws the `Problem` for an error or none at all. */
async function call(
  instance: Instance,
  method: string,
  params: JsonObject,
  request: SessionRequest,
): Promise<JsonObject> {
  const by = authorOf(principalOf(request));
  const body = await new Promise<AnswerBody | "late">((resolve) => {
    const timer = setTimeout(() => resolve("late"), ANSWER_MS);
    instance.mirror.request(method, params, by, (answer) => {
      clearTimeout(timer);
      resolve(answer);
    });
  });
  if (body === "late") throw new Problem(504, "The agent has not answered yet");
  if ("error" in body) throw problemOf(body.error);
  return isObject(body.result) ? body.result : {};
}

function problemOf(error: RpcError): Problem {
  const code = isObject(error.data) ? stringAt(error.data, "code") : undefined;
  if (code === ("link-lost" satisfies HubErrorCode))
    return new Problem(503, error.message, { code, retryAfterSeconds: 1 });
  switch (error.code) {
    case RPC.methodNotFound:
      return new Problem(501, "This agent cannot do that", { code: "unsupported" });
    case RPC.resourceNotFound:
      return new Problem(404, error.message, { code: code ?? "unknown-session" });
    default:
      return new Problem(502, `The agent refused: ${error.message}`, { ...(code !== undefined && { code }) });
  }
}
