/** The session list: what the backend stores, under the ids clients know. */
import { invalidParams } from "../../../protocol/errors.ts";
import { arrayAt, isObject, type Json, type JsonObject, numberAt, objectAt, stringAt } from "../../../protocol/json.ts";
import { AcpFailure } from "../acp/link.ts";
import type { Host } from "../host.ts";
import type { LiveBackend } from "../process/supervisor.ts";
import type { LazyTable } from "./session-map.ts";

const PAGE = 50;

function readCursor(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const at = Number(Buffer.from(cursor, "base64url").toString("utf8"));
  if (!Number.isSafeInteger(at) || at < 0) throw new AcpFailure(invalidParams("cursor", "is none of ours"));
  return at;
}

function entry(host: Host, value: Json, table: LazyTable): JsonObject[] {
  if (!isObject(value)) return [];
  const zcodeSid = stringAt(value, "sessionId");
  const cwd = stringAt(objectAt(value, "workspace"), "workspacePath");
  const isShown = stringAt(value, "sessionKind") !== "subagent_child" && (value["archivedAt"] ?? null) === null;
  if (zcodeSid === undefined || cwd === undefined || !isShown) return [];
  const known = host.sessions.byZcode(zcodeSid);
  const title = known?.title ?? stringAt(value, "title");
  const updatedAt = numberAt(value, "updatedAt") ?? numberAt(value, "createdAt");
  return [
    {
      sessionId: host.sessions.listedId(zcodeSid, table),
      cwd,
      ...(title === undefined || title === "" ? {} : { title }),
      ...(updatedAt === undefined ? {} : { updatedAt: new Date(updatedAt).toISOString() }),
    },
  ];
}

/** One page of `session/list`, newest first. */
export async function listSessions(host: Host, params: JsonObject): Promise<JsonObject> {
  const cwd = stringAt(params, "cwd");
  const start = readCursor(stringAt(params, "cursor"));
  const live = await host.supervisor.ready();
  const table = await host.store.read();
  const shown = await shownFrom(host, live, cwd, table, start + PAGE);
  const hasMore = shown.length > start + PAGE;
  return {
    sessions: shown.slice(start, start + PAGE),
    ...(hasMore ? { nextCursor: Buffer.from(String(start + PAGE)).toString("base64url") } : {}),
  };
}

/** More than `count` sessions a client is shown, or all there are. What it is not shown fills no page. */
async function shownFrom(
  host: Host,
  live: LiveBackend,
  cwd: string | undefined,
  table: LazyTable,
  count: number,
): Promise<JsonObject[]> {
  const workspace = cwd === undefined ? {} : { workspace: { workspacePath: cwd, workspaceKey: cwd } };
  for (let limit = count + 1; ; limit *= 2) {
    const raw = arrayAt(await live.connection.call("session/list", { ...workspace, limit }), "sessions") ?? [];
    const newest = [...raw].sort((a, b) => timeOf(b) - timeOf(a)).flatMap((value) => entry(host, value, table));
    const shown = cwd === undefined ? newest : newest.filter((session) => session["cwd"] === cwd);
    if (shown.length > count || raw.length < limit) return shown;
  }
}

const timeOf = (value: Json): number =>
  isObject(value) ? (numberAt(value, "updatedAt") ?? numberAt(value, "createdAt") ?? 0) : 0;
