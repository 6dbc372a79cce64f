/** How far a prompt of this device has come: on the phone, at the hub, started, done. */
import type { ReactElement } from "react";
import type { Delivery, OutboxEntry } from "../../client/index.ts";
import { Icon } from "../ui/icon.tsx";
import type { IconName } from "../ui/icon-paths.ts";

const MARKS: Readonly<Record<Delivery, { readonly icon: IconName; readonly words: string }>> = {
  phone: { icon: "phone", words: "On this device" },
  hub: { icon: "check", words: "At the hub" },
  started: { icon: "bolt", words: "Started" },
  done: { icon: "checkAll", words: "Done" },
  failed: { icon: "alert", words: "Not done" },
};

export function DeliveryMark({ entry }: { readonly entry: OutboxEntry }): ReactElement {
  const { icon, words } = MARKS[entry.delivery];
  return (
    <span className={`delivery ${entry.delivery}`} data-delivery={entry.delivery}>
      <Icon name={icon} small /> {entry.stopReason === "cancelled" ? "Stopped" : words}
    </span>
  );
}
