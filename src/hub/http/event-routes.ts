/** Server-sent events of what changes (contract §3): one stream per watcher, bounded, resumable. */
import type { ServerResponse } from "node:http";
import type { FastifyReply } from "fastify";
import { EVENT_ID_HEADER, eventId } from "../../protocol/event-position.ts";
import type { EventStreams } from "../event-streams.ts";
import type { HubEvents, NumberedEvent } from "../events.ts";
import { principalOf, type Routes } from "./app.ts";
import { READ } from "./needs.ts";
import { Problem } from "./problem.ts";

/** Proxies cut silent streams; browsers notice a dead one only by what does not come. */
const BEAT_MS = 20_000;
/** A watcher that does not read is ended; it comes back with its last id. */
const BUFFER_MAX = 262_144;

const TOO_MANY = {
  429: "This device has too many event streams open",
  503: "The hub has too many event streams open",
} as const;

const format = ({ id, event }: NumberedEvent, epoch: string): string =>
  `id: ${eventId(epoch, id)}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`;

/**
 * On the answers the stream tells changes of: the last event that is in them. Who opens the stream beside asking knows whether it
 * has missed anything, and need not ask again.
 */
export const markPosition = (reply: FastifyReply, events: HubEvents): void =>
  void reply.header(EVENT_ID_HEADER, events.position);

export function eventRoutes(events: HubEvents, streams: EventStreams): Routes {
  const { epoch } = events;
  return (app) => {
    // A HEAD of a stream would never end.
    app.get("/api/events", { ...READ, exposeHeadRoute: false }, (request, reply) => {
      const principal = principalOf(request);
      const full = streams.refusal(principal.deviceId);
      if (full !== undefined) throw new Problem(full, TOO_MANY[full], { code: "busy", retryAfterSeconds: 5 });
      reply.hijack();
      const response = reply.raw;
      response.writeHead(200, {
        ...headersSet(reply),
        "Content-Type": "text/event-stream; charset=utf-8",
        "Cache-Control": "no-store",
        "X-Accel-Buffering": "no",
        Connection: "keep-alive",
      });
      const missed = missedEvents(events, epoch, String(request.headers["last-event-id"] ?? ""));
      response.write(`retry: 1000\nevent: hello\ndata: ${JSON.stringify({ epoch, beatMs: BEAT_MS })}\n\n`);
      if (missed === undefined) response.write(`id: ${events.position}\nevent: reset\ndata: {}\n\n`);
      for (const numbered of missed ?? []) response.write(format(numbered, epoch));
      stream(events, response, epoch);
      streams.add(principal, response);
    });
  };
}

/** What the gate put on the answer, for a response written past the framework. */
const headersSet = (reply: FastifyReply): Record<string, string> =>
  Object.fromEntries(Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]));

function missedEvents(events: HubEvents, epoch: string, lastEventId: string): readonly NumberedEvent[] | undefined {
  if (!lastEventId.startsWith(`${epoch}.`)) return undefined;
  const id = Number(lastEventId.slice(epoch.length + 1));
  return Number.isSafeInteger(id) ? events.since(id) : undefined;
}

function stream(events: HubEvents, response: ServerResponse, epoch: string): void {
  const write = (text: string): void => {
    if (response.writableLength > BUFFER_MAX) response.destroy();
    else if (!response.writableEnded) response.write(text);
  };
  const stop = events.listen((numbered) => write(format(numbered, epoch)));
  const beat = setInterval(() => write("event: beat\ndata: {}\n\n"), BEAT_MS);
  beat.unref();
  response.on("error", () => undefined);
  response.on("close", () => {
    clearInterval(beat);
    stop();
  });
}
