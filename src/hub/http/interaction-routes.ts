/** Open interactions and answering them without a socket (contract §3, R3). */

import type { AnswerBody } from "../../core/interaction/answer.ts";
import { isFor, type Person } from "../../core/interaction/url-owner.ts";
import type { Verdict } from "../../core/mirror/ask.ts";
import type { OpenInteraction } from "../../protocol/hub-methods.ts";
import { interactionId } from "../../protocol/ids.ts";
import { isObject, type Json } from "../../protocol/json.ts";
import type { Author } from "../../protocol/meta.ts";
import type { HubEvents } from "../events.ts";
import { authorOf, personOf } from "../principal.ts";
import type { Registry } from "../registry.ts";
import { principalOf, type Routes } from "./app.ts";
import { markPosition } from "./event-routes.ts";
import { ANSWER, READ } from "./needs.ts";
import { Problem } from "./problem.ts";

const VERDICT_MS = 10_000;

/** The open ones, oldest first, but for addresses that are somebody else's to open (X12). */
export function openInteractions(registry: Registry, reader: Person): OpenInteraction[] {
  return registry
    .list()
    .flatMap((instance) =>
      instance.mirror
        .openInteractions()
        .filter(({ owner }) => isFor(owner, reader))
        .map(({ interactionId: id, sessionId, method, params, openedAt }) => ({
          interactionId: id,
          instanceId: instance.id,
          method,
          params: params as Json,
          openedAt,
          ...(sessionId !== undefined && { sessionId }),
        })),
    )
    .sort((a, b) => a.openedAt - b.openedAt);
}

/** `{optionId}` or `{cancelled:true}` for permissions, `{action, content?}` for forms; or a full ACP result. */
function readAnswerBody(answer: unknown): AnswerBody {
  if (!isObject(answer)) throw new Problem(422, '"answer" must be an object', { code: "invalid" });
  if (typeof answer["optionId"] === "string") {
    return { result: { outcome: { outcome: "selected", optionId: answer["optionId"] } } };
  }
  if (answer["cancelled"] === true) return { result: { outcome: { outcome: "cancelled" } } };
  return { result: answer };
}

export function interactionRoutes(registry: Registry, events: HubEvents): Routes {
  return (app) => {
    app.get("/api/interactions", READ, (request, reply) => {
      markPosition(reply, events);
      return openInteractions(registry, personOf(principalOf(request)));
    });
    app.post<{ Params: { id: string }; Body: unknown }>("/api/interactions/:id/answer", ANSWER, async (request) => {
      const principal = principalOf(request);
      const body = readAnswerBody(isObject(request.body) ? request.body["answer"] : undefined);
      const by = authorOf(principal);
      const verdict = await verdictOf(registry, request.params.id, body, by);
      if (verdict === "unknown") throw new Problem(404, "No such interaction");
      if (verdict === "pending") {
        throw new Problem(503, "The session's bridge has not decided yet", {
          code: "verdict-pending",
          retryAfterSeconds: 1,
        });
      }
      if (verdict.kind === "rejected")
        throw new Problem(422, `Not a valid answer: ${verdict.reason}`, { code: "invalid" });
      const { by: settledBy, outcome, at } = verdict.notice;
      const isOurs = settledBy.connectionId === by.connectionId;
      if (!isOurs)
        throw new Problem(409, `Already settled by ${settledBy.name}`, { code: "lost-race", settledBy, outcome, at });
      return { settledBy, outcome, at };
    });
  };
}

/** The root's verdict on an answer, at most ten seconds away. */
async function verdictOf(
  registry: Registry,
  id: string,
  body: AnswerBody,
  by: Author,
): Promise<Verdict | "unknown" | "pending"> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve("pending"), VERDICT_MS);
    const onVerdict = (verdict: Verdict): void => {
      clearTimeout(timer);
      resolve(verdict);
    };
    const isKnown = registry.list().some((instance) => instance.mirror.answer(interactionId(id), body, by, onVerdict));
    if (isKnown) return;
    clearTimeout(timer);
    resolve("unknown");
  });
}
