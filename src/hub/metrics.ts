/** What the hub counts, for Prometheus (`GET /metrics`). Numbers only: no ids, names or addresses as labels. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry as Metrics } from "prom-client";
import type { MirrorObservation } from "../core/mirror/ports.ts";
import { closeName } from "../protocol/close-codes.ts";
import type { StoreHealth } from "../store/health.ts";
import type { Hub } from "./hub.ts";
import type { Traffic } from "./traffic.ts";

export class HubMetrics {
  readonly metrics: Metrics = new Metrics();
  readonly #settled: Counter<"action">;
  readonly #latency: Histogram;
  readonly #events: Counter<"kind">;
  readonly #refused: Counter<"status">;
  readonly #closed: Counter<"reason">;
  readonly #opened = new Map<string, number>();

  constructor() {
    const registers = [this.metrics];
    // The default looks at the event loop a hundred times a second, and keeps a laptop awake for it.
    const eventLoopMonitoringPrecision = 1000;
    collectDefaultMetrics({ register: this.metrics, prefix: "acp_hub_", eventLoopMonitoringPrecision });
    this.#settled = new Counter({
      name: "acp_hub_interactions_settled_total",
      help: "Interactions settled",
      labelNames: ["action"],
      registers,
    });
    this.#latency = new Histogram({
      name: "acp_hub_interaction_open_seconds",
      help: "How long interactions were open",
      buckets: [1, 5, 15, 60, 300, 1800, 7200],
      registers,
    });
    this.#events = new Counter({
      name: "acp_hub_mirror_events_total",
      help: "Late answers, abstentions, refused notifications",
      labelNames: ["kind"],
      registers,
    });
    this.#refused = new Counter({
      name: "acp_hub_refused_total",
      help: "Requests and upgrades refused, by status",
      labelNames: ["status"],
      registers,
    });
    this.#closed = new Counter({
      name: "acp_hub_closed_total",
      help: "WebSocket connections closed, by the reason of the close code; slow: it read too slowly",
      labelNames: ["reason"],
      registers,
    });
  }

  /** What is read when somebody asks. */
  watch(hub: Hub): void {
    const gauge = (name: string, help: string, read: () => number): void => this.#gauge(name, help, read);
    this.#watchTraffic(hub);
    gauge("acp_hub_connections", "Open WebSocket connections", () => hub.sockets.count);
    gauge("acp_hub_instances", "Running bridges", () => hub.registry.list().length);
    gauge("acp_hub_sessions", "Live sessions", () =>
      hub.registry.list().reduce((sum, each) => sum + [...each.mirror.sessions].length, 0),
    );
    gauge("acp_hub_interactions_open", "Open interactions", () =>
      hub.registry.list().reduce((sum, each) => sum + each.mirror.openInteractions().length, 0),
    );
    gauge("acp_hub_connections_behind", "Connections that are being caught up", () => {
      let behind = 0;
      hub.sockets.each((socket) => {
        if (socket.connection.outbox.isBehind) behind += 1;
      });
      return behind;
    });
  }

  #watchTraffic(hub: Hub): void {
    const registers = [this.metrics];
    const total = (name: string, help: string, key: keyof Traffic): void => {
      new Counter({
        name,
        help,
        registers,
        collect() {
          this.reset();
          this.inc(hub.sockets.traffic[key]);
        },
      });
    };
    total("acp_hub_sent_bytes_total", "Bytes sent to WebSocket clients", "sent");
    total("acp_hub_received_bytes_total", "Bytes received from WebSocket clients", "received");
    total("acp_hub_catch_ups_total", "Times a live reader fell behind and was served from the journal", "catchUps");
    total("acp_hub_gaps_total", "Times it got its updates joined, and was told", "gaps");
  }

  watchStore(health: () => StoreHealth): void {
    const gauge = (name: string, help: string, read: (now: StoreHealth) => number): void => {
      this.#gauge(name, help, () => read(health()));
    };
    gauge("acp_hub_store_fault", "1 while the database cannot be written", ({ fault }) =>
      fault === undefined ? 0 : 1,
    );
    gauge("acp_hub_store_waiting_bytes", "Journal that waits for the disk", ({ waitingBytes }) => waitingBytes);
    gauge("acp_hub_store_lost_events", "Events given up because nothing could be written", ({ lost }) => lost.events);
    gauge("acp_hub_store_lost_records", "Records that could not be written", ({ lost }) => lost.records);
  }

  #gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.metrics],
      collect() {
        this.set(read());
      },
    });
  }

  onObservation(observation: MirrorObservation): void {
    if (observation.kind === "settled") {
      const { notice } = observation;
      this.#settled.inc({ action: notice.outcome.action });
      const openedAt = this.#opened.get(notice.interactionId);
      this.#opened.delete(notice.interactionId);
      if (openedAt !== undefined && notice.at > 0) this.#latency.observe((notice.at - openedAt) / 1000);
    } else if (observation.kind !== "sessions-changed" && observation.kind !== "interactions-changed") {
      this.#events.inc({ kind: observation.kind });
    }
  }

  onOpened(interactionId: string, openedAt: number): void {
    if (this.#opened.size < 10_000) this.#opened.set(interactionId, openedAt);
  }

  onClosed(code: number): void {
    this.#closed.inc({ reason: closeName(code) });
  }

  onRefused(status: number): void {
    this.#refused.inc({ status: String(status) });
  }
}
