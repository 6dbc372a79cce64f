/**
 * `session/list` for remote clients (S2): live sessions joined with those the agent lists, newest first, filtered before paging.
 * Works where the agent cannot list. The primary gets the agent's own answer.
 */
import { ACP } from "../../protocol/acp.ts";
import { invalidParams } from "../../protocol/errors.ts";
import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../protocol/json.ts";
import type { AnswerBody } from "../interaction/answer.ts";
import type { Call } from "./calls.ts";
import type { RootContext } from "./context.ts";
import type { RootSession } from "./session.ts";

const PAGE_SIZE = 100;
/** Pages asked of the agent for one listing: a bound for agents that never end. */
const AGENT_PAGES_MAX = 20;
const CURSOR = /^acp-hub:(\d{1,9})$/;

export class Listing {
  readonly #context: RootContext;

  constructor(context: RootContext) {
    this.#context = context;
  }

  list(call: Call): void {
    const cursor = stringAt(call.params, "cursor");
    const match = cursor === undefined ? undefined : CURSOR.exec(cursor);
    if (match === null) return call.answer({ error: invalidParams("cursor", "is not one this listing gave") });
    const offset = match?.[1] === undefined ? 0 : Number(match[1]);
    if (!this.#agentLists()) return call.answer(this.#page([], call.params, offset));
    return this.#collect(call, offset, [], undefined, 0);
  }

  #agentLists(): boolean {
    const capabilities = objectAt(objectAt(this.#context.agentInfo, "agentCapabilities"), "sessionCapabilities");
    return isObject(capabilities?.["list"]);
  }

  #collect(call: Call, offset: number, found: JsonObject[], cursor: string | undefined, pages: number): void {
    const cwd = stringAt(call.params, "cwd");
    const params: JsonObject = { ...(cwd !== undefined && { cwd }), ...(cursor !== undefined && { cursor }) };
    this.#context.agent.request(
      ACP.sessionList,
      params,
      (body) => {
        const result = "result" in body && isObject(body.result) ? body.result : undefined;
        found.push(...(arrayAt(result, "sessions") ?? []).filter(isObject));
        const next = stringAt(result, "nextCursor");
        if (next !== undefined && next !== cursor && pages + 1 < AGENT_PAGES_MAX)
          this.#collect(call, offset, found, next, pages + 1);
        else call.answer(this.#page(found, call.params, offset));
      },
      call,
    );
  }

  #page(stored: readonly JsonObject[], params: JsonObject, offset: number): AnswerBody {
    const cwd = stringAt(params, "cwd");
    const byId = new Map<string, JsonObject>();
    for (const entry of stored) {
      const id = stringAt(entry, "sessionId");
      if (id !== undefined) byId.set(id, entry);
    }
    for (const session of this.#context.sessions.values()) {
      // An unused session is loadable by id but not shown (S2).
      if (session.isListed) byId.set(session.id, { ...byId.get(session.id), ...entryOf(session) });
      else byId.delete(session.id);
    }
    const all = [...byId.values()]
      .filter((entry) => cwd === undefined || entry["cwd"] === cwd)
      .sort((a, b) => (stringAt(b, "updatedAt") ?? "").localeCompare(stringAt(a, "updatedAt") ?? ""));
    const sessions = all.slice(offset, offset + PAGE_SIZE);
    const end = offset + sessions.length;
    return { result: { sessions, ...(end < all.length && { nextCursor: `acp-hub:${end}` }) } };
  }
}

function entryOf(session: RootSession): JsonObject {
  return {
    sessionId: session.id,
    cwd: session.cwd,
    updatedAt: new Date(session.updatedAt).toISOString(),
    ...(session.title !== undefined && { title: session.title }),
  };
}
