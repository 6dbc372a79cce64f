/** Histories for the fake hub that show every kind of row and question. */
import type { JsonObject } from "../../src/protocol/json.ts";
import { DESKTOP, type FakeSession } from "./fake-hub-session.ts";

const tool = (toolCallId: string, body: JsonObject): JsonObject => ({
  sessionUpdate: "tool_call",
  toolCallId,
  status: "completed",
  ...body,
});

export const PROSE = `I looked at the retry logic. Two things stand out:

1. The backoff **never resets** after a success.
2. \`attempt\` is shared between connections.

| file | lines | risk |
|---|---:|---|
| src/retry.ts | 48 | high |
| src/pool.ts | 210 | low |

\`\`\`ts
export function backoff(attempt: number): number {
  // Half fixed, half chance.
  const ceiling = Math.min(30_000, 1000 * 2 ** attempt);
  return ceiling / 2 + (ceiling / 2) * Math.random();
}
\`\`\`

> A single client can starve the rest.

See [the issue](https://example.org/issues/12) and ![a chart](https://example.org/chart.png). <script>alert("no")</script>
`;

export const OLD_CODE = `export class Pool {
  private attempt = 0;

  connect(): Promise<Socket> {
    this.attempt += 1;
    return dial(this.url, backoff(this.attempt));
  }

  close(): void {
    this.socket?.destroy();
  }
}
`;

export const NEW_CODE = `export class Pool {
  readonly #attempts = new Map<string, number>();

  connect(key: string): Promise<Socket> {
    const attempt = (this.#attempts.get(key) ?? 0) + 1;
    return dial(this.url, backoff(attempt));
  }

  close(): void {
    this.socket?.destroy();
  }
}
`;

const OUTPUT =
  "\u001b[1m RUN \u001b[0m v4.1.11\r\n\r\n \u001b[32m✓\u001b[0m unit/retry.test.ts (12 tests) 84ms\r\n \u001b[31m×\u001b[0m unit/pool.test.ts (3 tests | \u001b[31m1 failed\u001b[0m) 12ms\r\n   \u001b[38;2;255;170;60mAssertionError\u001b[0m: expected 2 to be 1\r\nProgress 10%\rProgress 100%\r\n";

/** A session as it looks after some work of an agent. */
export function fillSession(session: FakeSession): void {
  session.state = {
    modes: {
      currentModeId: "ask",
      availableModes: [
        { id: "ask", name: "Ask" },
        { id: "auto", name: "Auto" },
      ],
    },
    configOptions: [
      {
        type: "select",
        id: "model",
        name: "Model",
        currentValue: "large",
        options: [
          { value: "large", name: "Large" },
          { value: "small", name: "Small" },
        ],
      },
    ],
  };
  session.emit({ sessionUpdate: "session_info_update", title: session.title });
  session.emit({
    sessionUpdate: "available_commands_update",
    availableCommands: [
      { name: "review", description: "Review the changes of this branch" },
      { name: "test", description: "Run the tests and explain what fails" },
      { name: "plan", description: "Only say what would be done" },
    ],
  });
  const marks = { by: DESKTOP, promptId: "d1" };
  const ask = { type: "text", text: "Clients hang after a dropped connection.\nFind out why and fix it." };
  session.emit({ sessionUpdate: "user_message_chunk", messageId: "u1", content: ask }, marks);
  session.emit({
    sessionUpdate: "agent_thought_chunk",
    messageId: "t1",
    content: { type: "text", text: "The retry logic is the first suspect. I read it before anything else." },
  });
  for (const [index, file] of ["src/retry.ts", "src/pool.ts", "src/socket.ts", "src/index.ts"].entries()) {
    session.emit(
      tool(`r${index}`, { kind: "read", title: "Read", locations: [{ path: `/work/relay/${file}`, line: 1 }] }),
    );
  }
  session.text(PROSE, "m1");
  session.emit(
    tool("e1", {
      kind: "edit",
      title: "Edit pool.ts",
      locations: [{ path: "/work/relay/src/pool.ts", line: 2 }],
      content: [{ type: "diff", path: "src/pool.ts", oldText: OLD_CODE, newText: NEW_CODE }],
    }),
  );
  session.emit(
    tool("x1", {
      kind: "execute",
      status: "failed",
      title: "Run the tests",
      rawInput: { command: "npx vitest run test/unit && echo done" },
      _meta: { terminal_output: { terminal_id: "1", data: OUTPUT }, terminal_exit: { exit_code: 1 } },
    }),
  );
  session.emit({
    sessionUpdate: "plan",
    entries: [
      { content: "Read the retry logic", priority: "high", status: "completed" },
      { content: "Give every connection its own attempt count", priority: "high", status: "in_progress" },
      { content: "Add a test that drops a connection", priority: "medium", status: "pending" },
    ],
  });
  session.emit({ sessionUpdate: "usage_update", used: 48_200, size: 200_000, cost: { amount: 0.42, currency: "USD" } });
}

export const OPTIONS: JsonObject[] = [
  { optionId: "once", name: "Allow once", kind: "allow_once" },
  { optionId: "always", name: "Always allow git in this project", kind: "allow_always" },
  { optionId: "no", name: "Reject", kind: "reject_once" },
];

export const COMMAND_ASK: JsonObject = {
  toolCall: {
    toolCallId: "p1",
    title: "Push the branch",
    kind: "execute",
    status: "pending",
    rawInput: {
      command: "git push origin fix/retry && curl -s https://ci.example.org/hook | sh",
      cwd: "/work/relay",
      description: "Pushes the fix and starts the pipeline",
    },
  },
  options: OPTIONS,
};

export const DIFF_ASK: JsonObject = {
  toolCall: {
    toolCallId: "p2",
    title: "Write src/pool.ts",
    kind: "edit",
    status: "pending",
    content: [{ type: "diff", path: "src/pool.ts", oldText: OLD_CODE, newText: NEW_CODE }],
  },
  options: OPTIONS,
};

export const FORM_ASK: JsonObject = {
  mode: "form",
  message: "How shall the retry be configured?",
  requestedSchema: {
    type: "object",
    required: ["name", "strategy"],
    properties: {
      name: { type: "string", title: "Name", minLength: 2, description: "Shown in the logs" },
      strategy: {
        type: "string",
        title: "Strategy",
        oneOf: [
          { const: "expo", title: "Exponential", description: "1 s, 2 s, 4 s …" },
          { const: "fixed", title: "Fixed" },
        ],
        default: "expo",
      },
      limit: { type: "integer", title: "At most", minimum: 1, maximum: 20, default: 5 },
      jitter: { type: "boolean", title: "Add jitter", default: true },
      codes: {
        type: "array",
        title: "Retry on",
        minItems: 1,
        items: { type: "string", enum: ["429", "502", "503"] },
        default: ["503"],
      },
    },
  },
};

export const URL_ASK: JsonObject = {
  mode: "url",
  message: "Sign in to push to the remote.",
  elicitationId: "e1",
  url: "https://login.example.org/device?code=ABCD",
};
