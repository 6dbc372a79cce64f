/** The demo agent's ACP side: sessions, prompts and choices on the SDK's typed app. */
import { randomUUID } from "node:crypto";
import {
  type AgentApp,
  type AgentContext,
  agent,
  type ClientCapabilities,
  type InitializeResponse,
  methods,
  PROTOCOL_VERSION,
  type PromptRequest,
  type PromptResponse,
  RequestError,
  type SessionConfigOption,
  type SessionModeState,
} from "@agentclientprotocol/sdk";
import { VERSION } from "../../protocol/version.ts";
import { commandOf, configOptions, isMode, isSpeed, MODES } from "./choices.ts";
import { SCENES, sceneFor } from "./scenes/catalogue.ts";
import { DemoSession } from "./session.ts";
import { type Pace, Turn, type TurnOptions } from "./turn.ts";

export interface DemoAgentOptions {
  readonly pace: Pace;
  readonly now: () => number;
  /** Aborts when the backend stops: what runs outside a turn ends then. */
  readonly stopped: AbortSignal;
}

const CONTEXT_TOKENS = 200_000;
const TITLE_CHARACTERS = 60;
/** Sessions past this number are forgotten, the oldest first. */
const SESSIONS_MAX = 200;

interface ChoiceState {
  readonly modes: SessionModeState;
  readonly configOptions: SessionConfigOption[];
}

/** The app, ready to be connected once. */
export function demoAgent(options: DemoAgentOptions): AgentApp {
  const demo = new DemoAgent(options);
  return agent({ name: "demo" })
    .onRequest(methods.agent.initialize, ({ params }) => demo.initialize(params.clientCapabilities))
    .onRequest(methods.agent.session.new, ({ params, client }) => demo.newSession(params.cwd, client))
    .onRequest(methods.agent.session.load, ({ params, client }) => demo.loadSession(params.sessionId, client))
    .onRequest(methods.agent.session.resume, ({ params, client }) => demo.resumeSession(params.sessionId, client))
    .onRequest(methods.agent.session.list, ({ params }) => demo.listSessions(params.cwd))
    .onRequest(methods.agent.session.close, ({ params }) => demo.closeSession(params.sessionId))
    .onRequest(methods.agent.session.setMode, ({ params }) => demo.setMode(params.sessionId, params.modeId))
    .onRequest(methods.agent.session.setConfigOption, ({ params, client }) =>
      demo.setConfigOption(params.sessionId, params.configId, params.value, client),
    )
    .onRequest(methods.agent.session.prompt, ({ params, client, signal }) => demo.prompt(params, client, signal))
    .onNotification(methods.agent.session.cancel, ({ params }) => demo.cancel(params.sessionId));
}

class DemoAgent {
  readonly #options: DemoAgentOptions;
  readonly #sessions = new Map<string, DemoSession>();
  #canShowForms = false;

  constructor(options: DemoAgentOptions) {
    this.#options = options;
  }

  initialize(capabilities: ClientCapabilities | undefined): InitializeResponse {
    // `{}` declares elicitation without any mode.
    this.#canShowForms = (capabilities?.elicitation?.form ?? null) !== null;
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: "acp-hub-demo", title: "Demo agent", version: VERSION },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, embeddedContext: true },
        sessionCapabilities: { list: {}, resume: {}, close: {} },
      },
      authMethods: [],
    };
  }

  newSession(cwd: string, client: AgentContext): ChoiceState & { sessionId: string } {
    const session = new DemoSession(`demo-${randomUUID()}`, cwd, this.#options.now());
    this.#sessions.set(session.id, session);
    for (const old of this.#sessions.keys()) if (this.#sessions.size > SESSIONS_MAX) this.#sessions.delete(old);
    this.#announce(session, client);
    return { sessionId: session.id, ...this.#choices(session) };
  }

  async loadSession(sessionId: string, client: AgentContext): Promise<ChoiceState> {
    const session = this.#session(sessionId);
    for (const update of [...session.history])
      await client.notify(methods.client.session.update, { sessionId, update });
    this.#announce(session, client);
    return this.#choices(session);
  }

  resumeSession(sessionId: string, client: AgentContext): ChoiceState {
    const session = this.#session(sessionId);
    this.#announce(session, client);
    return this.#choices(session);
  }

  listSessions(cwd: string | null | undefined) {
    const sessions = [...this.#sessions.values()]
      .filter((session) => session.title !== undefined && (cwd === undefined || cwd === null || cwd === session.cwd))
      .sort((a, b) => b.updatedAt - a.updatedAt)
      .map((session) => ({
        sessionId: session.id,
        cwd: session.cwd,
        title: session.title ?? null,
        updatedAt: new Date(session.updatedAt).toISOString(),
      }));
    return { sessions };
  }

  closeSession(sessionId: string): Record<string, never> {
    this.#session(sessionId).cancel();
    return {};
  }

  setMode(sessionId: string, modeId: string): Record<string, never> {
    const session = this.#session(sessionId);
    if (!isMode(modeId)) throw RequestError.invalidParams({ field: "modeId" });
    session.mode = modeId;
    return {};
  }

  async setConfigOption(sessionId: string, configId: string, value: unknown, client: AgentContext) {
    const session = this.#session(sessionId);
    if (configId !== "speed" || !isSpeed(value)) throw RequestError.invalidParams({ field: "value" });
    session.speed = value;
    const options = configOptions(value);
    const update = { sessionUpdate: "config_option_update" as const, configOptions: options };
    await client.notify(methods.client.session.update, { sessionId, update });
    return { configOptions: options };
  }

  cancel(sessionId: string): void {
    this.#sessions.get(sessionId)?.cancel();
  }

  prompt(params: PromptRequest, client: AgentContext, requestSignal: AbortSignal): Promise<PromptResponse> {
    const session = this.#session(params.sessionId);
    return session.enqueue(async (cancelled) => {
      const signal = AbortSignal.any([cancelled, requestSignal, this.#options.stopped]);
      return this.#play({ ...this.#turnOptions(session, client, signal), prompt: params.prompt });
    });
  }

  async #play(options: TurnOptions): Promise<PromptResponse> {
    const { session, signal } = options;
    const turn = new Turn(options);
    if (signal.aborted) return { stopReason: "cancelled" };
    await this.#open(turn);
    try {
      await sceneFor(turn).play(turn);
    } catch (error) {
      await turn.closeToolCalls();
      // A wait that was cut short rejects; anything else is the scene's own error.
      if (!signal.aborted) throw error;
    }
    session.updatedAt = this.#options.now();
    await turn.update({ sessionUpdate: "usage_update", used: session.usedTokens, size: CONTEXT_TOKENS });
    if (signal.aborted) return { stopReason: "cancelled" };
    this.#afterwards(turn, options);
    return { stopReason: "end_turn" };
  }

  /** Keeps the prompt for later loads and names a session after its first one. */
  async #open(turn: Turn): Promise<void> {
    const { session, prompt } = turn;
    const messageId = session.nextMessageId();
    for (const content of prompt) session.remember({ sessionUpdate: "user_message_chunk", messageId, content });
    if (session.title !== undefined) return;
    const text = prompt.flatMap((block) => (block.type === "text" ? [block.text] : [])).join(" ");
    session.title = text.trim().slice(0, TITLE_CHARACTERS) || "A picture";
    await turn.update({ sessionUpdate: "session_info_update", title: session.title });
  }

  #afterwards(turn: Turn, options: TurnOptions): void {
    const { sequel } = turn;
    if (sequel === undefined) return;
    const { stopped } = this.#options;
    // Its only failure is that the demo was stopped meanwhile.
    void sequel(new Turn({ ...options, signal: stopped })).catch(() => undefined);
  }

  #turnOptions(session: DemoSession, client: AgentContext, signal: AbortSignal): Omit<TurnOptions, "prompt"> {
    return { session, client, signal, pace: this.#options.pace, canShowForms: this.#canShowForms };
  }

  #session(sessionId: string): DemoSession {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) throw new RequestError(-32002, "Session not found", { sessionId });
    return session;
  }

  #choices(session: DemoSession): ChoiceState {
    return {
      modes: { currentModeId: session.mode, availableModes: MODES },
      configOptions: configOptions(session.speed),
    };
  }

  /** Commands come right after the response that introduces the session, as agents send them. */
  #announce(session: DemoSession, client: AgentContext): void {
    setImmediate(() => {
      const update = {
        sessionUpdate: "available_commands_update" as const,
        availableCommands: SCENES.map(commandOf),
      };
      void client.notify(methods.client.session.update, { sessionId: session.id, update }).catch(() => undefined);
    });
  }
}
