/** `session/list` over all instances (S2, S9): one entry per session, with the instances that have it and those it has left. */
import type { AnswerBody } from "../core/interaction/answer.ts";
import type { Connection } from "../core/mirror/connection.ts";
import { ACP } from "../protocol/acp.ts";
import { invalidParams } from "../protocol/errors.ts";
import { arrayAt, isObject, type JsonObject, stringAt } from "../protocol/json.ts";
import { hubMeta, withHubMeta } from "../protocol/meta.ts";
import type { SessionKey } from "../store/session-key.ts";
import { holdersOf, keyAt, type WideInstance } from "./same-session.ts";

const PAGE_SIZE = 100;
/** Pages asked of one instance. */
const PAGES_MAX = 10;
/** An instance that does not answer is left out of the list, not waited for. */
const ANSWER_MS = 5000;
const CURSOR = /^hub:(\d{1,9})$/;

interface Found {
  readonly entry: JsonObject;
  readonly instance: WideInstance;
}

export function listEverywhere(
  instances: readonly WideInstance[],
  connection: Connection<Buffer>,
  params: JsonObject,
  answer: (body: AnswerBody) => void,
): void {
  const cursor = stringAt(params, "cursor");
  const match = cursor === undefined ? undefined : CURSOR.exec(cursor);
  if (match === null) return answer({ error: invalidParams("cursor", "is not one this listing gave") });
  const offset = Number(match?.[1] ?? 0);
  void Promise.all(instances.map((instance) => listOf(instance, connection, params))).then((lists) => {
    const all = merge(instances, lists.flat());
    const sessions = all.slice(offset, offset + PAGE_SIZE);
    const end = offset + sessions.length;
    answer({ result: { sessions, ...(end < all.length && { nextCursor: `hub:${end}` }) } });
  });
}

function listOf(instance: WideInstance, connection: Connection<Buffer>, params: JsonObject): Promise<Found[]> {
  return new Promise((resolve) => {
    const found: Found[] = [];
    const timer = setTimeout(() => resolve(found), ANSWER_MS);
    const done = (): void => {
      clearTimeout(timer);
      resolve(found);
    };
    const ask = (cursor: string | undefined, page: number): void => {
      const { cursor: _ours, ...rest } = params;
      const asked = cursor === undefined ? rest : { ...rest, cursor };
      instance.mirror.request(ACP.sessionList, asked, connection.author, (body) => {
        const result = "result" in body && isObject(body.result) ? body.result : undefined;
        for (const entry of arrayAt(result, "sessions") ?? []) {
          if (isObject(entry)) found.push({ entry, instance });
        }
        const next = stringAt(result, "nextCursor");
        if (next === undefined || page + 1 >= PAGES_MAX) done();
        else ask(next, page + 1);
      });
    };
    ask(undefined, 0);
  });
}

/** Equal ids of one agent in the same directory are one session on several instances; others are other sessions (S9). */
function merge(instances: readonly WideInstance[], found: readonly Found[]): JsonObject[] {
  const byKey = new Map<SessionKey, Found[]>();
  const newestFirst = [...found].sort((a, b) =>
    (stringAt(b.entry, "updatedAt") ?? "").localeCompare(stringAt(a.entry, "updatedAt") ?? ""),
  );
  for (const each of newestFirst) {
    const key = keyAt(each.instance, stringAt(each.entry, "cwd") ?? "", stringAt(each.entry, "sessionId") ?? "");
    byKey.set(key, [...(byKey.get(key) ?? []), each]);
  }
  return [...byKey].map(([key, same]) => merged(instances, key, same));
}

/** The entry of the instance that was active last, with all that have the session. Where it is live comes before where it is listed. */
function merged(instances: readonly WideInstance[], key: SessionKey, same: readonly Found[]): JsonObject {
  const listing = same.map(({ instance }) => instance);
  const [newest, ...superseded] = holdersOf(instances, key, stringAt(same[0]?.entry, "sessionId") ?? "");
  const first = newest === undefined ? [] : [newest, ...superseded];
  const entry = (same.find(({ instance }) => instance === newest) ?? same[0])?.entry;
  return withHubMeta(entry ?? {}, {
    ...hubMeta(entry),
    instances: [...new Set([...first, ...listing])].map(({ id }) => id),
    ...(superseded.length > 0 && { superseded: superseded.map(({ id }) => id) }),
  });
}
