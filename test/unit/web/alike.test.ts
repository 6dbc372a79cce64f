import { describe, expect, it } from "vitest";
import type { InteractionCard } from "../../../src/client/index.ts";
import { type AlikeItem, alikeItems, alikeOffers } from "../../../src/web/approval/alike.ts";
import { readQuestion } from "../../../src/web/approval/question.ts";

const OPTIONS = [
  { optionId: "y", name: "Allow", kind: "allow_once" },
  { optionId: "a", name: "Always", kind: "allow_always" },
  { optionId: "n", name: "Reject", kind: "reject_once" },
  { optionId: "never", name: "Never", kind: "reject_always" },
];

function item(
  id: string,
  more: { kind?: string; title?: string; options?: object[]; card?: Partial<InteractionCard> } = {},
): AlikeItem {
  const toolCall = {
    toolCallId: id,
    title: more.title ?? `Run ${id}`,
    kind: more.kind ?? "execute",
    rawInput: { command: id },
  };
  const card: InteractionCard = {
    interactionId: id,
    sessionId: "s1",
    instanceId: "i1",
    method: "session/request_permission",
    params: JSON.parse(JSON.stringify({ toolCall, options: more.options ?? OPTIONS })),
    openedAt: 1,
    rpcId: 1,
    isWithdrawn: false,
    answer: undefined,
    rejected: undefined,
    step: undefined,
    ...more.card,
  };
  const question = readQuestion(card);
  if (question.kind !== "permission") throw new Error("no permission");
  return { card, question };
}

const ids = (items: readonly AlikeItem[]): string[] => items.map(({ card }) => card.interactionId);

describe("permissions that may be answered in one act", () => {
  it("are those of the same kind of tool as the one that is shown", () => {
    const items = [item("a"), item("b", { kind: "edit" }), item("c")];
    expect(ids(alikeItems(items, "a"))).toEqual(["a", "c"]);
    expect(alikeItems(items, "b")).toEqual([]);
    expect(alikeItems(items, undefined)).toEqual([]);
  });

  it("where the kind says nothing, only the same title counts", () => {
    const other = (id: string, title: string) => item(id, { kind: "other", title });
    expect(ids(alikeItems([other("a", "deploy"), other("b", "drop table"), other("c", "deploy")], "a"))).toEqual([
      "a",
      "c",
    ]);
  });

  it("leave out what is answered already and steps of something longer", () => {
    const answered = item("b", { card: { answer: { state: "sending", result: {}, at: 1 } } });
    const step = item("c", { card: { step: { index: 0, of: 2 } } });
    expect(alikeItems([item("a"), answered, step], "a")).toEqual([]);
    expect(alikeItems([item("a"), answered, item("d")], "b")).toEqual([]);
  });

  it("are at most twenty", () => {
    const items = Array.from({ length: 30 }, (_, index) => item(`i${index}`));
    expect(alikeItems(items, "i29")).toHaveLength(20);
  });
});

describe("the options that answer them all", () => {
  it("are the agent's own, in its order, and none that lasts", () => {
    const offers = alikeOffers([item("a"), item("b")]);
    expect(offers.map(({ kind, name }) => [kind, name])).toEqual([
      ["allow_once", "Allow"],
      ["reject_once", "Reject"],
    ]);
    expect([...(offers[0]?.optionIds ?? [])]).toEqual([
      ["a", "y"],
      ["b", "y"],
    ]);
  });

  it("are by each question's own ids", () => {
    const options = [{ optionId: "ok-7", name: "Allow", kind: "allow_once" }];
    expect([...(alikeOffers([item("a"), item("b", { options })])[0]?.optionIds ?? [])]).toEqual([
      ["a", "y"],
      ["b", "ok-7"],
    ]);
  });

  it.each([
    ["not offered by one", [{ optionId: "n", name: "Reject", kind: "reject_once" }]],
    ["called otherwise by one", [{ optionId: "y", name: "Allow and push", kind: "allow_once" }]],
    ["offered twice by one", [OPTIONS[0], { optionId: "y2", name: "Allow", kind: "allow_once" }]],
    ["lasting for one", [{ optionId: "y", name: "Allow", kind: "allow_always" }]],
  ])("lack an option that is %s", (_why, options) => {
    const offers = alikeOffers([item("a"), item("b", { options: options as object[] })]);
    expect(offers.some((offer) => offer.kind === "allow_once")).toBe(false);
  });
});
