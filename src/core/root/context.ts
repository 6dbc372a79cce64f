/** What the root's modules share. Each module does one job; this is the table they sit at. */
import type { RpcResponse } from "../../protocol/envelope.ts";
import type { SessionId } from "../../protocol/ids.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { abilitiesOf, type ClientAbilities } from "../capabilities.ts";
import type { AnswerBody } from "../interaction/answer.ts";
import { AgentCalls, type Call, InFlight, PRIMARY_KEY } from "./calls.ts";
import type { Outcomes } from "./lane.ts";
import { LinkSide } from "./link-side.ts";
import type { RootLimits, RootOptions, RootPorts } from "./ports.ts";
import type { RootSession } from "./session.ts";

/** Sessions whose prompts are remembered after they were closed. */
const SESSIONS_REMEMBERED = 64;

/** The stdio editor. */
export class Primary {
  abilities: ClientAbilities = abilitiesOf(undefined);
  capabilities: JsonObject | undefined;
  name = "editor";
  /** What others are told of its program. */
  clientInfo: JsonObject | null = null;
  isInitialized = false;
  /** It has said initialize, and that has not failed: what it sends on, unasked for the answer, is the agent's to judge (I1). */
  hasBegun = false;
  isGone = false;
  readonly inFlight: InFlight<Call> = new InFlight();
  #nextId = 1;
  readonly asked: Map<number, (response: RpcResponse, now: number) => void> = new Map();

  /** Ids we mint are integers, counted per connection (X2). */
  nextId(): number {
    const id = this.#nextId;
    this.#nextId += 1;
    return id;
  }

  get caller(): Call["caller"] {
    return {
      key: PRIMARY_KEY,
      by: { connectionId: PRIMARY_KEY, device: PRIMARY_KEY, name: this.name },
      isPrimary: true,
      isOwner: true,
    };
  }
}

export class RootContext {
  readonly ports: RootPorts;
  readonly options: RootOptions;
  limits: RootLimits;
  readonly agent: AgentCalls;
  readonly link: LinkSide;
  readonly primary: Primary | undefined;
  readonly sessions: Map<SessionId, RootSession> = new Map();
  /** What the hub's clients can show, merged there (I3). */
  remoteCapabilities: JsonObject | undefined;
  /** Clients of the hub that may answer, as it says; 0 while the link is down, and with a hub that never says. */
  answerers = 0;
  /** The agent's initialize result, once it gave one. */
  agentInfo: JsonObject | undefined;
  /** How the agent ended, once it has: every request gets it (S8). */
  agentEnd: AnswerBody | undefined;

  readonly #dirty = new Set<RootSession>();
  readonly #outcomes = new Map<SessionId, Outcomes>();

  constructor(ports: RootPorts, options: RootOptions) {
    this.ports = ports;
    this.options = options;
    this.limits = options.limits;
    this.link = new LinkSide(() => this.limits.agentLineBytes);
    this.agent = new AgentCalls((text) => ports.toAgent(text));
    this.primary = options.hasPrimary ? new Primary() : undefined;
  }

  /** What is remembered of a session's prompts, however often it is closed and opened again (P3). The oldest are forgotten. */
  outcomesOf(id: SessionId): Outcomes {
    const known = this.#outcomes.get(id) ?? new Map();
    this.#outcomes.delete(id);
    this.#outcomes.set(id, known);
    const [oldest] = this.#outcomes.keys();
    if (this.#outcomes.size > SESSIONS_REMEMBERED && oldest !== undefined) this.#outcomes.delete(oldest);
    return known;
  }

  /** Frames of `session` wait for the end of the tick. */
  markDirty(session: RootSession): void {
    if (this.#dirty.size === 0) this.ports.requestFlush();
    this.#dirty.add(session);
  }

  /** Encodes what the tick gathered and hands it to the link. */
  flush(): void {
    const dirty = [...this.#dirty];
    this.#dirty.clear();
    for (const session of dirty) session.feed.flush();
  }

  /** What the hub is told of the agent and of the editor beside it. */
  describeAgent(): JsonObject {
    const { primary } = this;
    const initialize = this.agentInfo ?? null;
    if (primary?.hasBegun !== true) return { initialize };
    const { name, clientInfo, abilities } = primary;
    return { initialize, primary: { name, client: clientInfo, ...(abilities.isExtended && { extended: true }) } };
  }

  /** The primary while its pipe is there: what is the agent's own goes to it from the first byte on, as without us (Ro2). */
  get presentPrimary(): Primary | undefined {
    return this.primary?.isGone === false ? this.primary : undefined;
  }

  /** The primary while it can be talked to. */
  get livePrimary(): Primary | undefined {
    const { primary } = this;
    return primary?.isInitialized === true && !primary.isGone ? primary : undefined;
  }
}
