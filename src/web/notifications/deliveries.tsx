/** What was pushed to this device lately, and what became of it. */
import type { ReactElement } from "react";
import type { PushDelivery } from "../../client/index.ts";
import { useLoaded, useServices } from "../app/hooks.ts";
import { fullTime } from "../ui/time.ts";

const KINDS = new Map([
  ["needs-you", "Needs you"],
  ["turn-ended", "Turn ended"],
  ["test", "Test"],
]);

const HUSHES = new Map([
  ["muted", "muted"],
  ["quiet-hours", "quiet hours"],
]);

export function Deliveries({ round }: { readonly round: number }): ReactElement | null {
  const { api } = useServices();
  const deliveries = useLoaded(() => api.push.deliveries(), [api, round]);
  if (deliveries.value === undefined || deliveries.value.length === 0) return null;
  return (
    <section className="page-section">
      <h2>Recent deliveries</h2>
      <ul className="plain card-list">
        {deliveries.value.map((delivery, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a list that is loaded whole
          <li key={index}>
            <span className="session-row-main">
              <span>{KINDS.get(delivery.kind) ?? delivery.kind}</span>
              <span className="session-row-place">{fullTime(delivery.at)}</span>
            </span>
            <span className={`chip ${isDelivered(delivery) ? "ok" : ""}`}>{fateOf(delivery)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

const isDelivered = ({ status }: PushDelivery): boolean => status !== undefined && status < 300;

function fateOf(delivery: PushDelivery): string {
  const { status, hushed } = delivery;
  if (hushed !== undefined) return `kept back: ${HUSHES.get(hushed) ?? hushed}`;
  if (status === undefined) return "push service out of reach";
  return isDelivered(delivery) ? "sent" : `refused (${status})`;
}
