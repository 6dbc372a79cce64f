/**
 * Two agents behind one hub, in random use, with clients of the whole hub among the others: what `Chaos` does to one world, and
 * people who load, prompt and answer in both over one connection that comes and goes.
 */
import { HubWide } from "../../../src/hub/hub-wide.ts";
import { parseFrame } from "../../../src/protocol/envelope.ts";
import { instanceId } from "../../../src/protocol/ids.ts";
import { LINK_PROTOCOL, type LinkHello } from "../../../src/protocol/link.ts";
import { answerOldest, Chaos, differs, type Step } from "./chaos.ts";
import { seededRandom } from "./random.ts";
import { RemoteClient, type RemoteOptions } from "./remote-client.ts";

export type FleetStep =
  | { readonly do: "at"; readonly at: number; readonly step: Exclude<Step, { do: "hub" | "deliver" | "wait" }> }
  | { readonly do: "join"; readonly options: RemoteOptions }
  | {
      readonly do: "load" | "prompt" | "retry" | "cancel" | "answer" | "stall" | "drain" | "leave" | "return";
      readonly who: number;
      readonly at: number;
      readonly n: number;
    }
  | { readonly do: "hub" }
  | { readonly do: "deliver"; readonly count: number }
  | { readonly do: "wait"; readonly ms: number };

type Personal = Extract<FleetStep, { who: number }>;

/** What a client may be told that did nothing wrong: its hub has just started, its link is gone, the lane is full. */
const REFUSALS = new Set(["instance-required", "link-lost", "lane-full"]);
const WIDE_MAX = 3;
const NAMES = ["a-", "b-"];
/** More than any run needs: a loop between two sides would never end. */
const DELIVERIES_MAX = 400_000;

/** One person: the connection it uses now, the ones it had, and how many prompts it wrote. */
interface Person {
  client: RemoteClient;
  readonly ids: Set<string>;
  prompts: number;
}

export class Fleet {
  readonly #random: () => number;
  readonly #places: readonly Chaos[];
  readonly #people: Person[] = [];
  #wide: HubWide;
  #connections = 0;

  constructor(seed: number, journalBytes: number) {
    this.#random = seededRandom(seed);
    this.#places = NAMES.map(
      (name, at) =>
        new Chaos(seed + at, journalBytes, {
          name,
          onCloseOther: (id, code) => {
            const client = this.#people.map((person) => person.client).find((each) => each.id === id);
            if (client === undefined) return;
            client.closedWith = code;
            this.#disconnect(client);
          },
        }),
    );
    this.#wide = this.#makeWide();
    for (const extended of [true, false]) this.#join({ extended, forms: extended });
    this.#settle();
  }

  run(step: FleetStep): void {
    switch (step.do) {
      case "at":
        return this.#places[step.at % NAMES.length]?.run(step.step);
      case "join":
        return this.#join(step.options);
      case "hub":
        return this.#restartHub();
      case "deliver":
        for (let count = 0; count < step.count; count += 1) this.#step();
        return undefined;
      case "wait":
        return this.#advance(step.ms);
      default:
        return this.#person(step);
    }
  }

  /** Heals everything and returns what is wrong; empty when all invariants hold. */
  finish(): string[] {
    for (const { world } of this.#places) {
      world.stallLink(false);
      if (world.linkDown === undefined) world.dial();
    }
    for (const { client } of this.#people) client.drain();
    this.#settle();
    this.#advance(2000);
    const problems = this.#places.flatMap((place) => place.finish());
    this.#settle();
    for (const { client } of this.#people)
      for (const place of this.#places) if (client.mustReload.has(place.session)) this.#load(client, place.session);
    this.#settle();
    this.#advance(2000);
    return [...problems, ...this.#people.flatMap((person) => this.#wrongWith(person))];
  }

  #wrongWith({ client, ids }: Person): string[] {
    const problems = client.problems.map((problem) => `${client.name}: ${problem}`);
    for (const { error } of client.responses.values())
      if (error !== undefined && !REFUSALS.has(String(error.data?.["code"])))
        problems.push(`${client.name} was refused: ${JSON.stringify(error)}`);
    if (client.connection.isGone) return problems;
    if (client.owed.length > 0) problems.push(`${client.name} is owed ${client.owed.join(", ")}`);
    for (const dialog of client.openDialogs) problems.push(`${client.name} still shows ${dialog.method} ${dialog.id}`);
    for (const { world, session } of this.#places) {
      const fresh = world.remote({ extended: true });
      world.load(fresh, session);
      problems.push(...differs(client, ids, fresh, session));
      world.disconnect(fresh);
    }
    return problems;
  }

  /** One message somewhere, or the end of a tick. False at rest. */
  #step(): boolean {
    const wires = this.#people.flatMap(({ client }) => [client.up, client.down]).filter((wire) => wire.canDeliver);
    const at = Math.floor(this.#random() * (wires.length + NAMES.length));
    const wire = wires[at];
    if (wire !== undefined) {
      wire.deliver();
      return true;
    }
    // A world at rest leaves the turn to the next.
    for (let tried = 0; tried < NAMES.length; tried += 1)
      if (this.#places[(at + tried) % NAMES.length]?.world.step() === true) return true;
    wires[0]?.deliver();
    return wires.length > 0;
  }

  #settle(): void {
    for (let count = 0; this.#step(); count += 1)
      if (count > DELIVERIES_MAX) throw new Error("the fleet does not come to rest");
  }

  #advance(ms: number): void {
    this.#settle();
    for (const { world } of this.#places) {
      world.advance(ms);
      this.#settle();
    }
  }

  #makeWide(): HubWide {
    const instances = this.#places.map(({ world }, at) => {
      const name = NAMES[at] ?? "";
      return {
        id: instanceId(name),
        hello: helloOf(name),
        get mirror() {
          return world.mirror;
        },
      };
    });
    const all = { list: () => instances, get: (id: string) => instances.find((each) => each.id === id) };
    return new HubWide(all, "0.0.0", undefined, () => this.#places[0]?.world.now ?? 0, 30_000);
  }

  /** The hub dies and starts anew, with everything that hangs on it. */
  #restartHub(): void {
    for (const { client } of this.#people) this.#disconnect(client);
    for (const { world } of this.#places) world.restartHub();
    this.#wide = this.#makeWide();
  }

  #join(options: RemoteOptions): void {
    if (this.#people.length >= WIDE_MAX) return;
    const client = this.#connect({ ...options, name: `wide-${this.#people.length}` });
    this.#people.push({ client, ids: new Set([client.id]), prompts: 0 });
  }

  #connect(options: RemoteOptions): RemoteClient {
    const id = `wide${this.#connections++}`;
    const client = new RemoteClient(id, options, (from, text) => {
      const parsed = parseFrame(text);
      if (parsed.ok) this.#wide.onFrame(from.connection, parsed.frame);
    });
    client.onHopeless = () => this.#disconnect(client);
    this.#wide.add(client.connection);
    client.request("initialize", { protocolVersion: 1, clientCapabilities: client.capabilities });
    return client;
  }

  #disconnect(client: RemoteClient): void {
    if (client.connection.isGone) return;
    client.down.cut();
    client.up.cut();
    client.connection.isGone = true;
    client.connection.outbox.close();
    this.#wide.remove(client.connection);
  }

  #person(step: Personal): void {
    const person = this.#people[step.who % Math.max(1, this.#people.length)];
    const place = this.#places[step.at % NAMES.length];
    if (person === undefined || place === undefined) return;
    const { client } = person;
    if (step.do === "return") return this.#return(person);
    if (client.connection.isGone) return;
    const sessionId = place.session;
    if (step.do === "load" && !client.owed.includes("session/load")) this.#load(client, sessionId);
    else if (step.do === "prompt") this.#prompt(person, sessionId, ++person.prompts);
    else if (step.do === "retry" && person.prompts > 0) this.#retry(person, 1 + (step.n % person.prompts));
    else if (step.do === "cancel") client.notify("session/cancel", { sessionId });
    else if (step.do === "answer") answerOldest(client, step.n);
    else if (step.do === "stall") client.stall();
    else if (step.do === "drain") client.drain();
    else if (step.do === "leave") this.#disconnect(client);
  }

  /** Where each prompt went, so that a retry goes there too: an id belongs to one session (P3). */
  readonly #sent = new Map<string, string>();

  #prompt({ client }: Person, sessionId: string, n: number): void {
    const promptId = `${client.name}-${n}`;
    this.#sent.set(promptId, sessionId);
    const prompt = [{ type: "text", text: `p${n} of ${client.name}` }];
    client.request("session/prompt", { sessionId, prompt, _meta: { "acp-hub": { promptId } } });
  }

  #retry(person: Person, n: number): void {
    const sessionId = this.#sent.get(`${person.client.name}-${n}`);
    if (sessionId !== undefined) this.#prompt(person, sessionId, n);
  }

  /** Comes back over a new connection: with its cursors if it reads numbers, else it loads anew what it had. */
  #return(person: Person): void {
    const old = person.client;
    this.#disconnect(old);
    const client = this.#connect({ ...old.options, device: old.connection.device });
    person.client = client;
    person.ids.add(client.id);
    if (old.options.extended === true) client.takeOver(old);
    for (const { session } of this.#places) {
      if (!old.loaded.has(session)) continue;
      const cursor = old.options.extended === true ? client.cursors.get(session) : undefined;
      this.#load(client, session, cursor === undefined ? undefined : { cursor });
    }
  }

  #load(client: RemoteClient, sessionId: string, ours?: { cursor: { epoch: string; seq: number } }): void {
    const meta = ours === undefined ? {} : { _meta: { "acp-hub": ours } };
    client.request("session/load", { sessionId, cwd: "/work/project", mcpServers: [], ...meta });
  }
}

const helloOf = (name: string): LinkHello => ({
  protocol: LINK_PROTOCOL,
  features: [],
  bridgeVersion: "0.0.0",
  instanceId: name,
  pid: 1,
  startedAt: 1,
  workspace: "/work/project",
  name,
  origin: "editor",
});
