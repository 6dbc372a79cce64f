import { describe, expect, it } from "vitest";
import type { ConnectionState } from "../../../src/client/connection.ts";
import type { InteractionCard } from "../../../src/client/interactions.ts";
import { emptyView } from "../../../src/client/session-view.ts";
import { sessionId } from "../../../src/protocol/ids.ts";
import type { JsonObject } from "../../../src/protocol/json.ts";
import { questionTitle, readQuestion, settledText } from "../../../src/web/approval/question.ts";
import { linkState } from "../../../src/web/session/link-state.ts";
import { summarize } from "../../../src/web/transcript/tool-summary.ts";
import { lasted } from "../../../src/web/ui/time.ts";

const card = (method: string, params: JsonObject): InteractionCard => ({
  interactionId: "i1",
  sessionId: "s1",
  instanceId: undefined,
  method,
  params,
  openedAt: 1,
  rpcId: 1,
  isWithdrawn: false,
  answer: undefined,
  rejected: undefined,
  step: undefined,
});

describe("questions", () => {
  it("reads a command given as a list so that its arguments stay apart", () => {
    const toolCall = { toolCallId: "t", title: "Run", rawInput: { command: ["rm", "-rf", "my dir", "it's"] } };
    const question = readQuestion(card("session/request_permission", { toolCall, options: [] }));
    expect(question).toMatchObject({ kind: "permission", command: "rm -rf 'my dir' 'it'\\''s'" });
  });

  it("X10 fills in what the transcript knows and the request left out", () => {
    const known = { toolCallId: "t", content: [{ type: "diff", path: "a.ts", oldText: "1", newText: "2" }] };
    const asked = card("session/request_permission", { toolCall: { toolCallId: "t", title: "Edit" }, options: [] });
    expect(readQuestion(asked, known)).toMatchObject({
      title: "Edit",
      diffs: [{ path: "a.ts", oldText: "1", newText: "2" }],
    });
  });

  it("tells a page to open from a form", () => {
    const url = card("elicitation/create", { mode: "url", message: "Sign in", url: "https://a.example" });
    expect(readQuestion(url)).toEqual({ kind: "url", message: "Sign in", url: "https://a.example" });
    expect(questionTitle(url)).toBe("Sign in");
    const marked = card("elicitation/create", {
      message: "## Set `max_retries`\nIt is for **all**.",
      requestedSchema: {},
    });
    expect(questionTitle(marked)).toBe("Set max_retries");
    const form = card("elicitation/create", { message: "Choose", requestedSchema: { type: "object" } });
    expect(readQuestion(form)).toMatchObject({ kind: "form", message: "Choose" });
  });

  it.each([
    [{ action: "answered", optionKind: "allow_once" }, undefined, /^Allowed by Pixel /],
    [{ action: "answered", optionKind: "allow_always" }, "applied", /^Always allowed by this device /],
    [{ action: "answered", optionKind: "reject_once" }, undefined, /^Rejected by Pixel /],
    [{ action: "answered", optionKind: "reject_once" }, "lost", /^Rejected by Pixel .*\. Yours came later\.$/],
    [{ action: "answered", elicitation: "decline" }, undefined, /^Declined by Pixel /],
    [{ action: "cancelled" }, undefined, /^Cancelled with the turn /],
    [{ action: "withdrawn" }, undefined, /^Withdrawn by the agent /],
    [{ action: "ended" }, undefined, /^Ended with the session /],
  ] as const)("says who settled it and how: %j", (outcome, own, words) => {
    const by = { connectionId: "c", device: "d", name: "Pixel" };
    expect(settledText({ interactionId: "i", outcome, by, at: 1000 }, 2000, own)).toMatch(words);
  });
});

describe("tool summary", () => {
  const item = (body: JsonObject) => ({ kind: "tool" as const, key: "k", from: 1, ts: 1, toolCallId: "t", card: body });

  it("counts changed lines and names the exit code of what failed", () => {
    const content = [{ type: "diff", path: "a.ts", oldText: "a\nb\nc", newText: "a\nx\nc\nd" }];
    expect(summarize(item({ title: "Edit", kind: "edit", status: "completed", content })).result).toBe("+2 −1");
    const failed = { title: "Run", kind: "execute", status: "failed", _meta: { terminal_exit: { exit_code: 2 } } };
    expect(summarize(item(failed))).toMatchObject({ result: "exit 2", status: "failed" });
  });

  it("says what it is about where the title does not", () => {
    expect(summarize(item({ title: "Read", locations: [{ path: "/w/src/a.ts" }] })).target).toBe("a.ts");
    expect(summarize(item({ title: "Read a.ts", locations: [{ path: "/w/src/a.ts" }] })).target).toBeUndefined();
  });
});

describe("link state", () => {
  const now = 1_700_000_000_000;
  const view = { ...emptyView(sessionId("s1")), heardAt: now - 60_000 };
  const ready: ConnectionState = {
    kind: "ready",
    info: {
      version: "1",
      connectionId: "c",
      instance: undefined,
      scopes: new Set(),
      device: "d",
      deviceId: "d",
      features: [],
      result: {},
    },
  };

  it.each([
    [{ kind: "connecting", attempt: 0 }, view, /^Connecting · as of \d\d:\d\d/, true],
    [{ kind: "reconnecting", attempt: 3, retryAt: now + 4000, reason: "" }, view, /^Reconnecting in 4 s \(3\)/, true],
    [{ kind: "stopped", reason: "closed", message: "" }, view, /^Offline · as of/, true],
    [ready, { ...view, attach: { kind: "attaching", received: 300 } }, /^Catching up \(300\)$/, true],
    [ready, { ...view, attach: { kind: "live" } }, /^Live$/, false],
    [ready, { ...view, attach: { kind: "live" }, isCatchingUp: true }, /^Catching up$/, true],
    [ready, { ...view, attach: { kind: "live" }, isReadOnly: true }, /^History only$/, true],
    [ready, { ...view, attach: { kind: "ended", reason: "instance-gone" } }, /^The agent has ended · as of/, true],
  ] as const)("never looks live when it is not (%#)", (connection, session, words, isStale) => {
    const link = linkState(connection, session, now);
    expect(link.text).toMatch(words);
    expect(link.isStale).toBe(isStale);
  });
});

describe("how long it has lasted", () => {
  it.each([
    [-5, ""],
    [59, ""],
    [60, "1m"],
    [59 * 60 + 59, "59m"],
    [60 * 60, "1h"],
    [185 * 60, "3h 5m"],
    [24 * 3600, "1d"],
    [51 * 3600, "2d 3h"],
  ])("%d s is %j", (seconds, words) => {
    expect(lasted(1_000_000, 1_000_000 + seconds * 1000)).toBe(words);
  });
});
