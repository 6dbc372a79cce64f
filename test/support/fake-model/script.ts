/** What the fake model says next. A test queues replies; each model call of an agent's turn takes one. */

export type Step =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "tool"; readonly name: string; readonly args: object }
  /** Nothing more is said until the test opens the gate. */
  | { readonly kind: "gate"; readonly opened: Promise<void> };

export type Reply = readonly Step[];

export const says = (text: string): Step => ({ kind: "text", text });
export const calls = (name: string, args: object): Step => ({ kind: "tool", name, args });

export interface Gate extends Extract<Step, { kind: "gate" }> {
  open(): void;
}

export function gate(): Gate {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { kind: "gate", opened, open };
}

/** Replies in the order they were queued. */
export class Script {
  readonly #replies: Reply[] = [];
  #toolCalls = 0;

  push(...steps: Step[]): void {
    this.#replies.push(steps);
  }

  /** What a call gets when the test queued nothing: seen in an assertion, it says what went wrong. */
  take(): Reply {
    return this.#replies.shift() ?? [says("[the script is empty]")];
  }

  get left(): number {
    return this.#replies.length;
  }

  /** Unique over the server's life: agents match results by it. */
  nextToolId(): string {
    this.#toolCalls += 1;
    return `call_${this.#toolCalls}`;
  }
}
