/** The composition root: makes every long-lived part of the app once and joins them. */
import {
  type ClientStorage,
  cookieCredential,
  HubApi,
  HubClient,
  HubClock,
  HubEvents,
  overWebSocket,
  systemClock,
  ticketDial,
  webSocketFactory,
} from "../../client/index.ts";
import { VERSION } from "../../protocol/version.ts";
import { Notifier } from "../notifications/notifier.ts";
import { SeenReporter } from "../notifications/seen-reporter.ts";
import { PushWishes } from "../notifications/wishes.ts";
import { readAppKey } from "../platform/app-key.ts";
import { watchPage } from "../platform/page-life.ts";
import { uniqueId } from "../platform/unique-id.ts";
import { AccessStore } from "./access.ts";
import { hubBaseUrl } from "./base-url.ts";
import { type AheadSocket, dialingWith } from "./dial-ahead.ts";
import { HomeStore } from "./home-store.ts";
import { Router } from "./router.ts";
import { SessionKeeper } from "./session-keeper.ts";
import { SettingsStore } from "./settings.ts";
import { Today } from "./today.ts";

export interface Services {
  readonly api: HubApi;
  readonly events: HubEvents;
  readonly client: HubClient;
  /** What the hub has dated is aged by this one. */
  readonly hubClock: HubClock;
  readonly today: Today;
  readonly storage: ClientStorage;
  readonly access: AccessStore;
  readonly home: HomeStore;
  readonly keeper: SessionKeeper;
  readonly router: Router;
  readonly settings: SettingsStore;
  readonly wishes: PushWishes;
  readonly notifier: Notifier;
  readonly seen: SeenReporter;
}

/** What the page has opened before there was a program. */
export interface Opened {
  readonly storage: ClientStorage;
  readonly ahead: AheadSocket;
}

export function buildServices({ storage, ahead }: Opened): Services {
  const clock = systemClock;
  const hubClock = new HubClock(clock);
  const api = new HubApi({
    baseUrl: hubBaseUrl(),
    fetch: hubClock.heardIn((url, init) => fetch(url, init)),
    credential: cookieCredential(readAppKey),
  });
  const client = new HubClient({
    ...dialingWith(ahead, overWebSocket, { dial: ticketDial(api), openSocket: webSocketFactory(WebSocket) }),
    clock,
    hubNow: () => hubClock.now(),
    clientInfo: { name: "acp-hub-web", title: "acp-hub app", version: VERSION },
    storage,
    newId: uniqueId,
    answerByHttp: (interactionId, answer) => api.answer(interactionId, answer),
  });
  const events = new HubEvents(api, clock, true);
  const access = new AccessStore(api);
  const home = new HomeStore({ api, client, storage, clock, onUnauthorized: () => access.revoked() });
  const router = new Router();
  const wishes = new PushWishes(api.push);
  const services: Services = {
    api,
    events,
    client,
    hubClock,
    today: new Today(hubClock, clock),
    storage,
    access,
    home,
    keeper: new SessionKeeper(client, storage, clock),
    router,
    settings: new SettingsStore(),
    wishes,
    notifier: new Notifier(client, home, router, wishes, hubClock),
    seen: new SeenReporter(api.push, client, router),
  };
  join(services);
  return services;
}

/** Who tells whom. */
function join(services: Services): void {
  const { access, client, events, home, keeper } = services;
  let before = access.access.value.kind;
  access.access.subscribe(() => {
    const { kind } = access.access.value;
    if (kind === "unpaired") end(services);
    // What was begun on trust goes on.
    else if (kind === "paired" && before !== "checking") begin(services);
    before = kind;
  });
  home.follow(events);
  events.state.subscribe(() => {
    if (events.state.value === "unauthorized") access.revoked();
  });
  client.connection.state.subscribe(() => {
    const state = client.connection.state.value;
    if (state.kind === "stopped" && state.reason === "unauthorized") access.revoked();
  });
  watchPage({
    onVisible: (isVisible) => {
      client.connection.setVisible(isVisible);
      if (isVisible) wake(services);
      else keeper.saveAll();
    },
    onWake: () => wake(services),
  });
}

function begin({ client, events, home, wishes }: Services): void {
  events.start();
  void wishes.load();
  void home.refresh();
  void client.outbox.restore();
}

function end({ client, events }: Services): void {
  events.stop();
  client.connection.stop();
}

function wake({ access, client, events, home, today }: Services): void {
  today.look();
  if (access.access.value.kind === "unreachable") void access.check();
  client.connection.wake();
  events.wake();
  if (access.access.value.kind === "paired") home.refreshSoon();
}

export interface Started {
  /** What the device kept is there to be shown. */
  readonly restored: Promise<void>;
  /** There is something of the session to be read that the page is opened on; at once where it is opened on none. */
  readonly hasContent: Promise<void>;
  /** The hub has said who we are, or cannot be reached. */
  readonly checked: Promise<void>;
}

/** What the page shows first: the device's copy, then the hub's word. A device with a key asks everything at once. */
export function startServices(services: Services): Started {
  const { access, keeper, router, seen } = services;
  seen.start();
  const route = router.route.value;
  const isTrusted = access.access.value.kind === "checking";
  // First of all: a browser has few connections, and the session is what takes the most steps.
  const hasContent =
    isTrusted && route.screen === "session" ? keeper.warm(route.sessionId, route.instanceId) : Promise.resolve();
  // In a task of its own: the socket's first words go out before.
  if (isTrusted) setTimeout(() => begin(services));
  return { restored: restore(services), hasContent, checked: access.check() };
}

async function restore({ home, client, notifier }: Services): Promise<void> {
  await Promise.all([home.restore(), client.outbox.restore()]);
  // Not before: what the device kept is no news.
  notifier.start();
}
