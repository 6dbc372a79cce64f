/** Shows one question to the client under one session id and waits for its answer. */
import { ACP } from "../../../protocol/acp.ts";
import { isObject, type Json, type JsonObject, objectAt, stringAt } from "../../../protocol/json.ts";
import type { AcpQuestion } from "../acp/link.ts";
import { textBlock } from "../translate/event.ts";
import type { Ask, AskDeps } from "./asks.ts";
import { INTERACTIONS } from "./auto-answers.ts";
import { deny, originOf, type PermissionVerdict, permissionOptions, permissionVerdict } from "./permission.ts";
import {
  isPlanApproval,
  PLAN_OPTIONS,
  planButtonVerdict,
  planForm,
  planFormVerdict,
  planText,
} from "./plan-approval.ts";
import {
  answersResult,
  formVerdict,
  type Popup,
  popupsOf,
  type Question,
  questionForm,
  readQuestions,
  SKIP,
} from "./questions.ts";

/** A question as it stands at one client id. */
export interface Leg {
  readonly alias: string;
  isOver: boolean;
  question: AcpQuestion | undefined;
  /** Cards made for popups that are not ended yet. */
  readonly openCards: Set<string>;
}

type Deps = Pick<AskDeps, "link" | "hasForms">;

/** Resolves with the backend's answer; rejects when the client cannot answer or the leg was taken down. */
export function renderLeg(ask: Ask, leg: Leg, deps: Deps): Promise<PermissionVerdict> {
  if (ask.method === INTERACTIONS.permission) return permission(ask, leg, deps);
  return isPlanApproval(ask.params) ? planApproval(ask, leg, deps) : questions(ask, leg, deps);
}

function put(leg: Leg, deps: Deps, method: string, params: JsonObject): Promise<Json> {
  if (leg.isOver) return Promise.reject(new Error("the question is over"));
  leg.question = deps.link.ask(method, { sessionId: leg.alias, ...params });
  return leg.question.answer;
}

const settled = (result: JsonObject): PermissionVerdict => ({ result, isCancelled: false });

function toolCall(ask: Ask, content?: JsonObject[]): JsonObject {
  const { toolCallId, title, rawInput } = ask.card;
  return { toolCallId, title, rawInput, ...(content === undefined ? {} : { content }) };
}

function originMeta(ask: Ask): JsonObject {
  const origin = originOf(ask.params);
  return origin === undefined ? {} : { _meta: { zcode: { origin: origin.raw } } };
}

async function permission(ask: Ask, leg: Leg, deps: Deps): Promise<PermissionVerdict> {
  const options = permissionOptions(ask.params);
  if (options.length === 0) return settled(deny("The request offered no option"));
  const reason = stringAt(ask.params, "reason");
  const riskLevel = stringAt(ask.params, "riskLevel");
  const origin = originOf(ask.params);
  const zcode: JsonObject = {
    ...(reason === undefined ? {} : { reason }),
    ...(riskLevel === undefined ? {} : { riskLevel }),
    ...(origin === undefined ? {} : { origin: origin.raw }),
  };
  const params = { toolCall: toolCall(ask), options, _meta: { zcode } };
  return permissionVerdict(ask.params, await put(leg, deps, ACP.requestPermission, params));
}

async function planApproval(ask: Ask, leg: Leg, deps: Deps): Promise<PermissionVerdict> {
  if (deps.hasForms()) {
    try {
      const form = { ...planForm(ask.params), toolCallId: ask.card.toolCallId };
      return settled(planFormVerdict(await put(leg, deps, ACP.elicitationCreate, form)));
    } catch (error) {
      // A client that refuses the form can still press a button; one that was withdrawn cannot.
      if (leg.isOver) throw error;
    }
  }
  const plan = planText(ask.params);
  const content = plan === "" ? undefined : [textBlock(plan)];
  const params = {
    toolCall: { ...toolCall(ask, content), kind: "switch_mode" },
    options: [...PLAN_OPTIONS],
    ...originMeta(ask),
  };
  return settled(planButtonVerdict(await put(leg, deps, ACP.requestPermission, params)));
}

async function questions(ask: Ask, leg: Leg, deps: Deps): Promise<PermissionVerdict> {
  const list = readQuestions(ask.params);
  if (list.length === 0) return settled({ action: "decline", reason: "The request held no question" });
  if (deps.hasForms()) {
    try {
      const form = { ...questionForm(list), toolCallId: ask.card.toolCallId, ...originMeta(ask) };
      return settled(formVerdict(list, await put(leg, deps, ACP.elicitationCreate, form)));
    } catch (error) {
      if (leg.isOver) throw error;
    }
  }
  return settled(await popups(ask, leg, deps, list));
}

/** One popup after the other. Declining one declines them all; skipping leaves that question out. */
async function popups(ask: Ask, leg: Leg, deps: Deps, list: readonly Question[]): Promise<JsonObject> {
  const picks = new Map<Question, string[]>();
  for (const question of list) {
    const values: string[] = [];
    for (const popup of popupsOf(question)) {
      const optionId = await showPopup(ask, leg, deps, popup);
      if (optionId === undefined || optionId === "decline")
        return { action: "decline", reason: "The person declined to answer" };
      const value = optionId === SKIP ? undefined : popup.value(optionId);
      if (value !== undefined) values.push(value);
    }
    picks.set(question, values);
  }
  return answersResult(picks);
}

async function showPopup(ask: Ask, leg: Leg, deps: Deps, popup: Popup): Promise<string | undefined> {
  const toolCallId = `${ask.card.toolCallId}_${popup.id}`;
  const rawInput = { description: popup.title };
  const update = (members: JsonObject): void =>
    deps.link.notify(ACP.sessionUpdate, { sessionId: leg.alias, update: { toolCallId, ...members } });
  update({
    sessionUpdate: "tool_call",
    title: popup.title,
    kind: "other",
    status: "pending",
    rawInput,
    content: [textBlock(popup.title)],
  });
  leg.openCards.add(toolCallId);
  const params = {
    toolCall: { toolCallId, title: popup.title, rawInput },
    options: [...popup.options],
    ...originMeta(ask),
  };
  const answer = await put(leg, deps, ACP.requestPermission, params);
  leg.openCards.delete(toolCallId);
  update({ sessionUpdate: "tool_call_update", status: "completed" });
  const outcome = isObject(answer) ? objectAt(answer, "outcome") : undefined;
  return stringAt(outcome, "outcome") === "selected" ? stringAt(outcome, "optionId") : undefined;
}
