/** `GET /api/sessions/:sid/export`: a transcript, read and written in parts, so that a long one holds nobody up (contract §3). */
import { finished, Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import type { HistoryItem } from "../../core/journal/history-page.ts";
import type { SessionRecord } from "../../store/ports.ts";
import { jsonParts, markdownParts } from "../export.ts";
import type { History } from "../history.ts";
import type { Routes } from "./app.ts";
import { READ } from "./needs.ts";
import { Problem } from "./problem.ts";

/** Each holds a session in memory until its caller has it all. */
const RUNNING_MAX = 8;
/** What is written before others have their turn. */
const TURN_CHARS = 262_144;

type Parts = (record: SessionRecord, items: readonly HistoryItem[]) => Iterable<string>;

const FORMATS = new Map<string, { readonly type: string; readonly parts: Parts }>([
  ["md", { type: "text/markdown; charset=utf-8", parts: markdownParts }],
  ["json", { type: "application/json", parts: jsonParts }],
]);

export function exportRoute(history: History): Routes {
  let running = 0;
  return (app) => {
    app.get<{ Params: { sid: string }; Querystring: { format?: string } }>(
      "/api/sessions/:sid/export",
      READ,
      async (request, reply) => {
        const record = history.find(request.params.sid);
        if (record === undefined) throw new Problem(404, "No such session");
        const name = request.query.format ?? "md";
        const format = FORMATS.get(name);
        if (format === undefined) throw new Problem(400, '"format" is md or json');
        if (running >= RUNNING_MAX)
          throw new Problem(429, "Too many exports at once", { code: "busy", retryAfterSeconds: 2 });
        running += 1;
        // Also where the caller has gone already.
        finished(reply.raw, () => {
          running -= 1;
        });
        const items = await history.itemsInTurns(record);
        const file = `session-${record.sessionId.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 60)}.${name}`;
        reply.header("Content-Disposition", `attachment; filename="${file}"`);
        return reply.type(format.type).send(Readable.from(inTurns(format.parts(record, items)), { objectMode: false }));
      },
    );
  };
}

async function* inTurns(parts: Iterable<string>): AsyncIterable<Buffer> {
  let waiting: string[] = [];
  let chars = 0;
  for (const part of parts) {
    waiting.push(part);
    chars += part.length;
    if (chars < TURN_CHARS) continue;
    yield Buffer.from(waiting.join(""));
    waiting = [];
    chars = 0;
    await setImmediate();
  }
  yield Buffer.from(waiting.join(""));
}
