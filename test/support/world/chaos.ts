/**
 * Random use of a world: what clients, the agent and the network do, one step at a time, and what has to hold when all has come to
 * rest. The test brings the random choices, so that a failure shrinks to a few steps.
 */
import { instanceId } from "../../../src/protocol/ids.ts";
import type { Json } from "../../../src/protocol/json.ts";
import type { AcpClient } from "./acp-client.ts";
import { chunk, toolCall, toolUpdate } from "./fake-agent.ts";
import type { RemoteClient } from "./remote-client.ts";
import { World, type WorldOptions } from "./world.ts";

export type Step =
  | { readonly do: "connect"; readonly extended: boolean; readonly forms: boolean }
  | {
      readonly do: "load" | "prompt" | "cancel" | "stall" | "drain" | "leave" | "return" | "setMode";
      readonly who: number;
    }
  | { readonly do: "retry"; readonly who: number; readonly prompt: number }
  | { readonly do: "answer"; readonly who: number; readonly how: number }
  | {
      readonly do: "say" | "think" | "tool" | "toolDone" | "ask" | "form" | "plan" | "end" | "withdraw";
      readonly n: number;
    }
  | { readonly do: "cut" | "dial" | "hub" | "stallLink" | "drainLink" }
  | { readonly do: "deliver"; readonly count: number }
  | { readonly do: "wait"; readonly ms: number };

const CLIENTS_MAX = 4;
const FORM = {
  type: "object",
  properties: { color: { type: "string", enum: ["red", "green"] }, sure: { type: "boolean" } },
  required: ["color"],
};

/** One person: the client it uses now and the connections it had. */
interface Person {
  client: RemoteClient;
  readonly ids: Set<string>;
  prompts: number;
}

export class Chaos {
  readonly world: World;
  readonly session: string;
  readonly #people: Person[] = [];
  #words = 0;
  #asks: Json[] = [];

  /** `others`: what makes the world one of several. */
  constructor(seed: number, journalBytes: number, others: Pick<WorldOptions, "name" | "onCloseOther"> = {}) {
    this.world = new World({
      ...others,
      seed,
      root: { journalBytes, tailBytes: journalBytes / 4 },
      mirror: {
        journalBytes: journalBytes * 2,
        tailBytes: journalBytes / 4,
        ...(others.name !== undefined && { instanceId: instanceId(others.name) }),
      },
    }).start();
    this.session = this.#open(seed % 3, `${others.name ?? ""}old`);
  }

  /** The editor makes the session, or a remote client does, or one loads it from the agent's own history. */
  #open(way: number, old: string): string {
    const { world } = this;
    if (way === 0) return world.newSession();
    const maker = world.remote();
    const method = way === 1 ? "session/new" : "session/load";
    world.agent.histories.set(old, [chunk("long ago ", "h", "user_message_chunk"), toolCall("t1"), chunk("history ")]);
    const id = maker.request(method, { sessionId: old, cwd: "/work/project", mcpServers: [] });
    world.settle();
    const session = way === 1 ? String(maker.result(id)["sessionId"]) : old;
    world.disconnect(maker);
    world.settle();
    return session;
  }

  run(step: Step): void {
    switch (step.do) {
      case "connect":
        return this.#connect(step.extended, step.forms);
      case "deliver":
        for (let count = 0; count < step.count; count += 1) this.world.step();
        return undefined;
      case "wait":
        this.world.advance(step.ms);
        return undefined;
      case "cut":
        return this.world.cut();
      case "dial":
        return this.#dial();
      case "hub":
        return this.world.restartHub();
      case "stallLink":
      case "drainLink":
        return this.world.stallLink(step.do === "stallLink");
      case "say":
      case "think":
      case "tool":
      case "toolDone":
      case "ask":
      case "form":
      case "plan":
      case "end":
      case "withdraw":
        return this.#agent(step.do, step.n);
      default:
        return this.#person(step);
    }
  }

  /** Heals everything and returns what is wrong; empty when all invariants hold. */
  finish(): string[] {
    const { world, session } = this;
    this.world.stallLink(false);
    this.#dial();
    for (const { client } of this.#people) client.drain();
    world.settle().advance(2000);
    this.#endTurns();
    world.primary.notify("session/cancel", { sessionId: session });
    world.settle();
    this.#endTurns();
    for (const { client } of this.#people) if (client.mustReload.has(session)) world.sendLoad(client, session);
    world.settle().advance(2000);
    const fresh = world.remote({ extended: true });
    world.load(fresh, session);
    return [...world.problems, ...this.#left(), ...this.#people.flatMap((person) => this.#differs(person, fresh))];
  }

  #endTurns(): void {
    const { world } = this;
    for (let round = 0; round < 50 && world.agent.prompts.length > 0; round += 1) {
      world.agent.end(this.session);
      world.settle();
    }
  }

  #left(): string[] {
    const { world } = this;
    const problems: string[] = [];
    for (const client of [...this.#people.map((person) => person.client), world.primary]) {
      if (client !== world.primary && !world.clients.some((each) => each === client)) continue;
      if (client.owed.length > 0) problems.push(`${client.name} is owed ${client.owed.join(", ")}`);
      for (const dialog of client.openDialogs)
        problems.push(`${client.name} still shows ${dialog.method} ${dialog.id}`);
    }
    for (const id of this.#asks)
      if (!world.agent.answers.has(id)) problems.push(`the agent has no answer to ${JSON.stringify(id)}`);
    return [...problems, ...this.#ranTwice()];
  }

  /** P3: every prompt has a text of its own here, so none may come to the agent a second time. */
  #ranTwice(): string[] {
    const texts = this.world.agent.of("session/prompt").map(({ params }) => JSON.stringify(params?.["prompt"]));
    return texts.filter((text, at) => texts.indexOf(text) !== at).map((text) => `the agent was given ${text} twice`);
  }

  #differs({ client, ids }: Person, fresh: AcpClient): string[] {
    return this.world.clients.includes(client) ? differs(client, ids, fresh, this.session) : [];
  }

  #connect(extended: boolean, forms: boolean): void {
    if (this.#people.length >= CLIENTS_MAX) return;
    const client = this.#hello({ extended, forms, name: `person-${this.#people.length}` });
    this.#people.push({ client, ids: new Set([client.id]), prompts: 0 });
  }

  #hello(options: RemoteClient["options"]): RemoteClient {
    const client = this.world.connect(options);
    client.request("initialize", { protocolVersion: 1, clientCapabilities: client.capabilities });
    return client;
  }

  #dial(): void {
    if (this.world.linkDown === undefined) this.world.dial();
  }

  #agent(what: string, n: number): void {
    const { agent } = this.world;
    const { session } = this;
    const word = `w${this.#words++} `;
    if (what === "say") agent.update(session, chunk(word, n % 3 === 0 ? undefined : `a${n % 2}`));
    else if (what === "think") agent.update(session, chunk(word, undefined, "agent_thought_chunk"));
    else if (what === "tool") agent.update(session, toolCall(`t${n}`, { rawInput: { word } }));
    else if (what === "toolDone") agent.update(session, toolUpdate(`t${n}`, { status: "completed", rawOutput: word }));
    else if (what === "plan") agent.update(session, { sessionUpdate: "plan", entries: [{ content: word }] });
    else if (what === "ask") this.#asks.push(agent.askPermission(session, `t${n}`));
    else if (what === "form") this.#asks.push(agent.askForm(session, FORM));
    else if (what === "withdraw") this.#withdraw();
    else if (agent.prompts.length > 0) agent.end(session);
  }

  #withdraw(): void {
    const open = this.#asks.find((id) => !this.world.agent.answers.has(id));
    if (open !== undefined) this.world.agent.notify("$/cancel_request", { requestId: open });
  }

  #person(step: Extract<Step, { who: number }>): void {
    const person = this.#people[step.who % Math.max(1, this.#people.length)];
    if (step.who >= 4 || person === undefined) return this.#editor(step);
    const { client } = person;
    if (!this.world.clients.includes(client) || client.closedWith !== undefined) {
      if (step.do === "return") this.#return(person);
      return undefined;
    }
    switch (step.do) {
      case "load":
        if (!client.owed.includes("session/load")) this.world.sendLoad(client, this.session);
        return undefined;
      case "prompt":
        person.prompts += 1;
        return this.#send(client, `p${person.prompts} of ${client.name}`, {
          promptId: `${client.name}-${person.prompts}`,
        });
      case "retry":
        return person.prompts === 0 ? undefined : this.#retry(person, 1 + (step.prompt % person.prompts));
      case "leave":
        return this.world.disconnect(client);
      case "return":
        this.world.disconnect(client);
        return this.#return(person);
      case "stall":
        return client.stall();
      case "drain":
        return client.drain();
      default:
        return this.#common(client, step);
    }
  }

  /** A client comes back: an extended one with its cursor, a plain one loads anew. */
  #return(person: Person): void {
    const old = person.client;
    const client = this.#hello({ ...old.options, device: old.connection.device });
    person.client = client;
    person.ids.add(client.id);
    // A cursor says "I have everything before": only who loaded can.
    if (old.options.extended !== true || !old.loaded.has(this.session))
      return void this.world.sendLoad(client, this.session);
    client.takeOver(old);
    const cursor = client.cursors.get(this.session);
    this.world.sendLoad(client, this.session, cursor === undefined ? {} : { cursor });
  }

  #retry(person: Person, n: number): void {
    this.#send(person.client, `p${n} of ${person.client.name}`, { promptId: `${person.client.name}-${n}` });
  }

  #send(client: AcpClient, text: string, ours: { promptId: string } | undefined): void {
    const _meta = ours === undefined ? {} : { _meta: { "acp-hub": ours } };
    client.request("session/prompt", { sessionId: this.session, prompt: [{ type: "text", text }], ..._meta });
  }

  #editor(step: Extract<Step, { who: number }>): void {
    const { primary } = this.world;
    if (step.do === "prompt") this.#send(primary, `editor ${this.#words++}`, undefined);
    else this.#common(primary, step);
  }

  #common(client: AcpClient, step: Extract<Step, { who: number }>): void {
    if (step.do === "cancel") client.notify("session/cancel", { sessionId: this.session });
    else if (step.do === "setMode")
      client.request("session/set_mode", { sessionId: this.session, modeId: `mode-${this.#words++}` });
    else if (step.do === "answer") answerOldest(client, step.how);
  }
}

/** What is wrong when a client that was given the session whole shows something else than a fresh load. */
export function differs(client: AcpClient, ids: ReadonlySet<string>, fresh: AcpClient, sessionId: string): string[] {
  if (!client.loaded.has(sessionId)) return [];
  const mine = JSON.stringify(client.transcript(sessionId).normal(ids));
  const whole = JSON.stringify(fresh.transcript(sessionId).normal(ids));
  return mine === whole ? [] : [`${client.name} shows\n${mine}\na fresh load\n${whole}`];
}

/** Answers the oldest dialog, in one of seven ways. */
export function answerOldest(client: AcpClient, how: number): void {
  const { dialog } = client;
  if (dialog === undefined) return;
  if (how === 0) client.answerError(dialog, -32603);
  else if (how === 1) client.answer(dialog, { outcome: { outcome: "cancelled" } });
  else if (dialog.method === "elicitation/create")
    client.answer(dialog, how === 2 ? { action: "accept", content: { color: "red" } } : { action: "decline" });
  else {
    const options = dialog.params["options"];
    const option = Array.isArray(options) ? options[how % options.length] : undefined;
    const optionId = typeof option === "object" && option !== null && "optionId" in option ? option["optionId"] : null;
    client.answer(dialog, {
      outcome: { outcome: "selected", optionId: how === 3 ? "nonsense" : (optionId ?? null) },
    });
  }
}
