/** A client on the ACP SDK's typed app, over any transport: collects updates and answers as the test says. */
import {
  type ClientCapabilities,
  type ClientConnection,
  type CreateElicitationResponse,
  client,
  type InitializeResponse,
  methods,
  type NewSessionResponse,
  PROTOCOL_VERSION,
  type PromptResponse,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionNotification,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { sdkStream } from "../../src/backends/sdk-stream.ts";
import type { Transport } from "../../src/transport/transport.ts";

export interface SdkClientAnswers {
  permission?(params: RequestPermissionRequest, signal: AbortSignal): Promise<RequestPermissionResponse>;
  form?(params: unknown): Promise<CreateElicitationResponse>;
}

type Kind = SessionUpdate["sessionUpdate"];
type UpdateOf<K extends Kind> = Extract<SessionUpdate, { sessionUpdate: K }>;

export class SdkClient {
  readonly notes: SessionNotification[] = [];
  readonly connection: ClientConnection;
  readonly #waiters = new Set<() => void>();

  constructor(transport: Transport, answers: SdkClientAnswers = {}) {
    this.connection = client({ name: "test" })
      .onNotification(methods.client.session.update, ({ params }) => {
        this.notes.push(params);
        for (const waiter of [...this.#waiters]) waiter();
      })
      .onRequest(methods.client.session.requestPermission, ({ params, signal }) => {
        if (answers.permission === undefined) throw new Error("the test expects no permission request");
        return answers.permission(params, signal);
      })
      .onRequest(methods.client.elicitation.create, ({ params }) => {
        if (answers.form === undefined) throw new Error("the test expects no form");
        return answers.form(params);
      })
      .connect(sdkStream(transport));
  }

  initialize(clientCapabilities: ClientCapabilities = {}): Promise<InitializeResponse> {
    return this.connection.agent.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities,
    });
  }

  newSession(cwd = "/work"): Promise<NewSessionResponse> {
    return this.connection.agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
  }

  prompt(sessionId: string, text: string): Promise<PromptResponse> {
    return this.connection.agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
  }

  cancel(sessionId: string): Promise<void> {
    return this.connection.agent.notify(methods.agent.session.cancel, { sessionId });
  }

  get updates(): SessionUpdate[] {
    return this.notes.map((note) => note.update);
  }

  of<K extends Kind>(kind: K): UpdateOf<K>[] {
    return this.updates.filter((update): update is UpdateOf<K> => update.sessionUpdate === kind);
  }

  /** All text of the agent's messages so far. */
  get said(): string {
    return this.of("agent_message_chunk")
      .map((update) => (update.content.type === "text" ? update.content.text : ""))
      .join("");
  }

  /** Resolves once `condition` holds; looked at after every update. */
  until(condition: () => boolean): Promise<void> {
    if (condition()) return Promise.resolve();
    return new Promise((resolve) => {
      const waiter = () => {
        if (!condition()) return;
        this.#waiters.delete(waiter);
        resolve();
      };
      this.#waiters.add(waiter);
    });
  }
}
