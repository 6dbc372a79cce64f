/** `session/list` over all instances (S2, S9): one entry per session, with the instances that have it, the one active last first. */
import type { AnswerBody } from "../core/interaction/answer.ts";
import type { Connection } from "../core/mirror/connection.ts";
import { ACP } from "../protocol/acp.ts";
import { invalidParams } from "../protocol/errors.ts";
import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../protocol/json.ts";
import { HUB_META, hubMeta, withHubMeta } from "../protocol/meta.ts";
import type { Instance } from "./instance.ts";

/** What of an instance matters to a hub-wide connection. */
export type WideInstance = Pick<Instance, "id" | "hello" | "mirror">;

const PAGE_SIZE = 100;
/** Pages asked of one instance. */
const PAGES_MAX = 10;
/** An instance that does not answer is left out of the list, not waited for. */
const ANSWER_MS = 5000;
const CURSOR = /^hub:(\d{1,9})$/;

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
    const all = merge(lists.flat());
    const sessions = all.slice(offset, offset + PAGE_SIZE);
    const end = offset + sessions.length;
    answer({ result: { sessions, ...(end < all.length && { nextCursor: `hub:${end}` }) } });
  });
}

function listOf(instance: WideInstance, connection: Connection<Buffer>, params: JsonObject): Promise<JsonObject[]> {
  return new Promise((resolve) => {
    const found: JsonObject[] = [];
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
          if (isObject(entry)) found.push(withHubMeta(entry, { ...hubMeta(entry), instances: [instance.id] }));
        }
        const next = stringAt(result, "nextCursor");
        if (next === undefined || page + 1 >= PAGES_MAX) done();
        else ask(next, page + 1);
      });
    };
    ask(undefined, 0);
  });
}

/** Equal ids in the same directory are one session on several instances; in others they are other sessions (S9). */
function merge(entries: readonly JsonObject[]): JsonObject[] {
  const byKey = new Map<string, JsonObject>();
  const newestFirst = [...entries].sort((a, b) =>
    (stringAt(b, "updatedAt") ?? "").localeCompare(stringAt(a, "updatedAt") ?? ""),
  );
  for (const entry of newestFirst) {
    const key = JSON.stringify([entry["sessionId"], entry["cwd"]]);
    const known = byKey.get(key);
    if (known === undefined) byKey.set(key, entry);
    else {
      const instances = [...instancesOf(known), ...instancesOf(entry)];
      byKey.set(key, withHubMeta(known, { ...hubMeta(known), instances }));
    }
  }
  return [...byKey.values()];
}

const instancesOf = (entry: JsonObject): string[] =>
  (arrayAt(objectAt(objectAt(entry, "_meta"), HUB_META), "instances") ?? []).filter((id) => typeof id === "string");
