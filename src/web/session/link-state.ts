/** The state of the link as one short line. Nothing is ever silently stale. Pure. */
import type { ConnectionState, SessionView } from "../../client/index.ts";
import type { IconName } from "../ui/icon-paths.ts";
import { atTime } from "../ui/time.ts";

export interface LinkState {
  readonly tone: "ok" | "warn" | "danger" | "accent";
  readonly icon: IconName | undefined;
  readonly text: string;
  /** True when a tap can help. */
  readonly canRetry: boolean;
  /** True when what is shown may be old. */
  readonly isStale: boolean;
}

const state = (tone: LinkState["tone"], text: string, more: Partial<LinkState> = {}): LinkState => ({
  tone,
  icon: undefined,
  text,
  canRetry: false,
  isStale: true,
  ...more,
});

/** What of a session the state of its link depends on. */
export type LinkView = Pick<SessionView, "attach" | "heardAt" | "isCatchingUp" | "isReadOnly">;

export function linkState(connection: ConnectionState, view: LinkView | undefined, now: number): LinkState {
  if (connection.kind === "ready" && view?.attach.kind === "live") return liveState(view);
  const since = view?.heardAt === undefined ? "" : ` · as of ${atTime(view.heardAt, now)}`;
  switch (connection.kind) {
    case "idle":
    case "connecting":
    case "initializing":
      return state("warn", `Connecting${since}`);
    case "reconnecting": {
      const seconds = Math.max(0, Math.ceil((connection.retryAt - now) / 1000));
      const text = `Reconnecting in ${seconds} s (${connection.attempt})${since}`;
      return state("warn", text, { icon: "refresh", canRetry: true });
    }
    case "stopped":
      return state("danger", connection.reason === "closed" ? `Offline${since}` : connection.message, {
        icon: "unlink",
        canRetry: true,
      });
    case "ready":
      return attachState(view, since);
  }
}

function liveState(view: LinkView): LinkState {
  if (view.isCatchingUp) return state("accent", "Catching up");
  return view.isReadOnly ? state("warn", "History only", { icon: "clock" }) : state("ok", "Live", { isStale: false });
}

function attachState(view: LinkView | undefined, since: string): LinkState {
  if (view === undefined) return state("ok", "Live", { isStale: false });
  const { attach } = view;
  switch (attach.kind) {
    case "live":
      if (view.isCatchingUp) return state("accent", "Catching up");
      return view.isReadOnly
        ? state("warn", "History only", { icon: "clock" })
        : state("ok", "Live", { isStale: false });
    case "attaching":
      return state("accent", attach.received > 0 ? `Catching up (${attach.received})` : "Catching up");
    case "ended":
      return state("danger", `${ENDED.get(attach.reason) ?? "Ended"}${since}`, { icon: "unlink", canRetry: true });
    case "failed":
      return state("danger", attach.message, { icon: "alert", canRetry: true });
    case "detached":
      return state("warn", `Not attached${since}`);
  }
}

const ENDED = new Map([
  ["instance-gone", "The agent has ended"],
  ["closed", "The session was closed"],
  ["superseded", "Continued in another window"],
]);
