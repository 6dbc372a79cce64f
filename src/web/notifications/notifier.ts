/**
 * Tells a person who looks elsewhere: the count on the title and the app's badge always; a system notification for what is
 * new while the page is hidden, where allowed. Push does the same for a closed page (service worker).
 */
import type { HubClient, HubClock, InteractionCard } from "../../client/index.ts";
import { shownCards } from "../../client/index.ts";
import { HUB, type TurnNotice } from "../../protocol/hub-methods.ts";
import { readTurnNotice } from "../../protocol/notices.ts";
import { hushOf, NO_PREFERENCES, type PushKind } from "../../protocol/push-preferences.ts";
import type { HomeStore } from "../app/home-store.ts";
import { hrefOf } from "../app/route.ts";
import type { Router } from "../app/router.ts";
import { questionTitle } from "../approval/question.ts";
import type { PushWishes } from "./wishes.ts";

interface BadgeNavigator {
  setAppBadge?(count: number): Promise<void>;
  clearAppBadge?(): Promise<void>;
}

export class Notifier {
  readonly #client: HubClient;
  readonly #home: HomeStore;
  readonly #router: Router;
  readonly #wishes: PushWishes;
  readonly #hubClock: HubClock;
  /** Ids that were there already. Undefined until the list of the hub, or of the device, is in. */
  #known: ReadonlySet<string> | undefined;

  constructor(client: HubClient, home: HomeStore, router: Router, wishes: PushWishes, hubClock: HubClock) {
    this.#client = client;
    this.#home = home;
    this.#router = router;
    this.#wishes = wishes;
    this.#hubClock = hubClock;
  }

  start(): void {
    this.#client.interactions.subscribe(() => this.#onInteractions());
    this.#home.state.subscribe(() => {
      if (this.#home.state.value.freshAt === undefined || this.#known !== undefined) return;
      this.#known = new Set();
      this.#onInteractions();
    });
    this.#client.notices.subscribe(({ method, params }) => {
      if (method === HUB.turn) void this.#onTurn(readTurnNotice(params));
    });
  }

  #openIds(): ReadonlySet<string> {
    return new Set(this.#client.interactions.value.open.map((card) => card.interactionId));
  }

  #onInteractions(): void {
    const open = shownCards(this.#client.interactions.value);
    showCount(open.length);
    const known = this.#known;
    if (known === undefined) return;
    for (const card of open) if (!known.has(card.interactionId) && this.#isNews(card)) void this.#notifyQuestion(card);
    this.#known = this.#openIds();
  }

  /** Asked since this page was opened: one that came while the list was on its way is, too. */
  #isNews(card: InteractionCard): boolean {
    return card.openedAt >= this.#hubClock.at(performance.timeOrigin);
  }

  /** The same wishes hold here as for pushes. */
  async #isHushed(kind: PushKind, sessionId: string | undefined): Promise<boolean> {
    await this.#wishes.heard;
    return hushOf(this.#wishes.wishes.value ?? NO_PREFERENCES, kind, sessionId, this.#hubClock.now()) !== undefined;
  }

  async #notifyQuestion(card: InteractionCard): Promise<void> {
    if (await this.#isHushed("needs-you", card.sessionId)) return;
    const href =
      card.sessionId === undefined
        ? "#/"
        : hrefOf({ screen: "session", sessionId: card.sessionId, instanceId: card.instanceId });
    notify("Needs you", questionTitle(card), card.interactionId, href);
  }

  async #onTurn(notice: TurnNotice): Promise<void> {
    if (notice.stopReason === undefined && notice.error === undefined) return;
    const { route } = this.#router;
    const isShown = route.value.screen === "session" && route.value.sessionId === notice.sessionId;
    if (isShown && document.visibilityState === "visible") return;
    if (await this.#isHushed("turn-ended", notice.sessionId)) return;
    const href = hrefOf({ screen: "session", sessionId: notice.sessionId, instanceId: undefined });
    notify("Turn ended", notice.error?.message ?? "The agent has finished", `turn-${notice.sessionId}`, href);
  }
}

function showCount(count: number): void {
  document.title = count > 0 ? `(${count}) acp-hub` : "acp-hub";
  const badge: BadgeNavigator = navigator;
  void (count > 0 ? badge.setAppBadge?.(count) : badge.clearAppBadge?.())?.catch(() => undefined);
}

function notify(title: string, body: string, tag: string, href: string): void {
  if (document.visibilityState === "visible" || !("Notification" in window) || Notification.permission !== "granted")
    return;
  const url = new URL(href, location.href).href;
  void navigator.serviceWorker?.getRegistration().then(async (registration) => {
    // With a push subscription the hub notifies by itself: once is enough.
    if ((await registration?.pushManager?.getSubscription()) != null) return;
    if (registration !== undefined) await registration.showNotification(title, { body, tag, data: { url } });
    else new Notification(title, { body, tag });
  });
}
