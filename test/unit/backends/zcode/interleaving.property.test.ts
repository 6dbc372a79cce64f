/** Whatever is lost, repeated or out of order on the way: no text twice, no card left open, no question unanswered. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../../src/protocol/json.ts";
import { harness } from "../../../support/fake-zcode/harness.ts";
import type { Step } from "../../../support/fake-zcode/scenario.ts";

type Piece =
  | { readonly kind: "text"; readonly message: number; readonly live: boolean }
  | { readonly kind: "thought"; readonly message: number; readonly live: boolean }
  | { readonly kind: "tool"; readonly stages: readonly string[] }
  | { readonly kind: "ask"; readonly answer: "allow" | "deny" | "error" }
  | { readonly kind: "foreign" };

const piece: fc.Arbitrary<Piece> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("text" as const), message: fc.nat(3), live: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("thought" as const), message: fc.nat(3), live: fc.boolean() }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("tool" as const),
      stages: fc.subarray(["scheduled", "started", "progress", "result"]),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("ask" as const), answer: fc.constantFrom("allow", "deny", "error") }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "foreign" as const }) },
);

const OPTIONS = [
  { optionId: "allow", kind: "allow_once", name: "Allow", response: { decision: "allow" } },
  { optionId: "deny", kind: "deny", name: "Deny", response: { decision: "deny" } },
];

function stepsOf(part: Piece, at: number, anonymous: boolean): Step[] {
  const token = `<${at}>`;
  switch (part.kind) {
    case "text":
      return [{ do: "text", text: token, message: `m${part.message}`, live: part.live, anonymous }];
    case "thought":
      return [{ do: "reasoning", text: token, message: `m${part.message}`, live: part.live }];
    case "tool":
      return part.stages.map(
        (kind) =>
          ({
            do: "tool",
            payload: {
              kind,
              toolCallId: `c${at}`,
              toolName: "Bash",
              input: { command: "x" },
              stdoutTail: token,
              result: { content: token },
            },
          }) as const,
      );
    case "ask":
      return [
        {
          do: "ask",
          name: `ask${at}`,
          method: "interaction/requestPermission",
          params: {
            requestId: `r${at}`,
            toolCallId: `c${at}`,
            toolName: "Edit",
            reason: "x",
            riskLevel: "low",
            input: {},
            options: OPTIONS,
          },
        },
        { do: "expectAnswer", name: `ask${at}` },
      ];
    case "foreign":
      return [
        { do: "event", type: "turn.started", turnId: `f${at}`, payload: { inputSource: "background_task" } },
        { do: "event", type: "model.streaming", turnId: `f${at}`, payload: { kind: "text_delta", delta: token } },
        { do: "event", type: "turn.completed", turnId: `f${at}`, payload: { resultType: "success" } },
      ];
  }
}

/** What happens to each event line: delivered, lost, given twice, or held until after the next one. */
type Fate = "keep" | "drop" | "twice" | "late";

function courier(fates: readonly Fate[]): (line: string, next: (line: string) => void) => void {
  let at = 0;
  let held: string | undefined;
  return (line, next) => {
    const isEvent = line.includes('"session/event"');
    const fate = isEvent ? (fates[at++ % Math.max(1, fates.length)] ?? "keep") : "keep";
    if (fate === "late" && held === undefined) {
      held = line;
      return;
    }
    if (fate !== "drop") next(line);
    if (fate === "twice") next(line);
    if (held !== undefined) {
      const late = held;
      held = undefined;
      next(late);
    }
  };
}

const FINAL = new Set(["completed", "failed"]);

/** `anonymous`: a build whose deltas name no message. */
async function play(
  pieces: readonly Piece[],
  fates: readonly Fate[],
  cancels: boolean,
  anonymous: boolean,
): Promise<void> {
  const h = await harness(
    {
      prompts: [
        {
          match: "",
          steps: [
            ...pieces.flatMap((part, at) => stepsOf(part, at, anonymous)),
            ...(cancels ? [{ do: "hang" } as const] : []),
          ],
        },
      ],
    },
    { deliver: courier(fates), capabilities: { _meta: { terminal_output: true } } },
  );
  const id = await h.newSession();
  const prompt = h.client.prompt(id, "go");
  let replies = 0;
  void prompt.then(() => replies++);
  const answers = pieces.flatMap((part) => (part.kind === "ask" ? [part.answer] : []));
  let answered = 0;
  const answerAll = (): boolean => {
    for (const asked of h.client.asked.slice(answered)) {
      const how = answers[answered++] ?? "deny";
      if (how === "error") asked.fail(-32603);
      else asked.answer({ outcome: { outcome: "selected", optionId: how } });
    }
    return replies > 0;
  };
  if (cancels) {
    for (let tick = 0; tick < 20; tick++) {
      answerAll();
      await h.clock.advance(100);
    }
    h.client.notify("session/cancel", { sessionId: id });
  }
  await h.until("the prompt is answered", answerAll, 120_000);
  // A turn whose end was lost is looked for after a silence.
  for (let second = 0; second < 40; second++) {
    answerAll();
    await h.clock.advance(1_000);
  }
  expect(replies).toBe(1);
  expect(h.fake.asks.open).toEqual([]);
  const said = h.client.text() + h.client.thoughts;
  for (const at of pieces.keys()) expect(said.split(`<${at}>`).length - 1).toBeLessThanOrEqual(1);
  const cards = new Set(h.client.of("tool_call").map((update) => String(update["toolCallId"])));
  for (const card of cards) expect(FINAL.has(String((h.client.card(card) as JsonObject)["status"]))).toBe(true);
  expect(h.client.of("tool_call")).toHaveLength(cards.size);
  await h.end();
}

test("random interleavings of events, losses, repeats and re-orderings keep every promise", async () => {
  const fate = fc.constantFrom<Fate>("keep", "keep", "keep", "keep", "drop", "twice", "late");
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { maxLength: 10 }),
      fc.array(fate, { minLength: 1, maxLength: 24 }),
      fc.boolean(),
      fc.boolean(),
      play,
    ),
    { numRuns: 150 },
  );
});
