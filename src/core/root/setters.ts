/**
 * Setting modes, models and options (S6): one at a time per session, and the others learn of it even where the agent says
 * nothing by itself.
 */
import { ACP } from "../../protocol/acp.ts";
import { RPC } from "../../protocol/errors.ts";
import { arrayAt, isObject, type JsonObject, stringAt } from "../../protocol/json.ts";
import { withHubMeta } from "../../protocol/meta.ts";
import type { AnswerBody } from "../interaction/answer.ts";
import { optionOf } from "../session-state.ts";
import type { Call } from "./calls.ts";
import type { RootContext } from "./context.ts";
import type { Publisher } from "./publisher.ts";
import type { RootSession } from "./session.ts";

/** Updates that tell of a setter's effect. `session/set_mode`: some agents answer with their config options instead. */
const TELLING: ReadonlyMap<string, readonly string[]> = new Map([
  [ACP.sessionSetMode, ["current_mode_update", "config_option_update"]],
  [ACP.sessionSetConfigOption, ["config_option_update"]],
  [ACP.sessionSetModel, ["config_option_update"]],
  [ACP.sessionSetTitle, ["session_info_update"]],
]);

export const isSetter = (method: string): boolean => TELLING.has(method);

interface Running {
  readonly call: Call;
  announced: boolean;
}

export class Setters {
  readonly #context: RootContext;
  readonly #publisher: Publisher;
  readonly #running = new Map<RootSession, Running>();
  readonly #waiting = new Map<RootSession, Call[]>();

  constructor(context: RootContext, publisher: Publisher) {
    this.#context = context;
    this.#publisher = publisher;
  }

  set(call: Call, session: RootSession): void {
    if (this.#running.has(session)) {
      const waiting = this.#waiting.get(session) ?? [];
      waiting.push(call);
      this.#waiting.set(session, waiting);
    } else this.#run(call, session);
  }

  /** The session is over: what waits goes to the agent all the same, which answers for ids it does not know. */
  forget(session: RootSession): void {
    const waiting = this.#waiting.get(session) ?? [];
    this.#waiting.delete(session);
    this.#running.delete(session);
    for (const call of waiting)
      this.#context.agent.request(call.method, withHubMeta(call.params, undefined), (body) => call.answer(body), call);
  }

  /** Takes back a setter that waits for its turn. */
  cancelWaiting(matches: (call: Call) => boolean): Call | undefined {
    for (const calls of this.#waiting.values()) {
      const at = calls.findIndex(matches);
      if (at >= 0) return calls.splice(at, 1)[0];
    }
    return undefined;
  }

  /** The agent announced something while a setter runs. */
  onUpdate(session: RootSession, kind: string): void {
    const running = this.#running.get(session);
    if (running !== undefined && TELLING.get(running.call.method)?.includes(kind) === true) running.announced = true;
  }

  #run(call: Call, session: RootSession): void {
    const running: Running = { call, announced: false };
    this.#running.set(session, running);
    const params = withHubMeta(call.params, undefined);
    const onReply = (body: AnswerBody, now: number): void => {
      const instead = this.#running.get(session) === running ? asOption(call, body, session) : undefined;
      if (instead === undefined) this.#onReply(running, session, body, now);
      else this.#run(instead, session);
    };
    this.#context.agent.request(call.method, params, onReply, call);
  }

  #onReply(running: Running, session: RootSession, answer: AnswerBody, now: number): void {
    const { call } = running;
    const body = withOwnTitle(call, answer);
    if (this.#running.get(session) !== running) return call.answer(body);
    const knows = call.isOwed() ? call.caller.key : undefined;
    // The response goes first: where it is lost with its link, so is the update, and the catch-up brings it to the caller too.
    call.answer(body);
    if ("result" in body) {
      this.#note(session, call, body.result);
      for (const update of running.announced ? [] : updatesFor(call, body.result, session.state.result))
        this.#publisher.synthesised(session, update, now, knows);
      this.#context.link.announce(session);
    }
    this.#running.delete(session);
    const next = this.#waiting.get(session)?.shift();
    if (next !== undefined) this.#run(next, session);
    else this.#waiting.delete(session);
    return undefined;
  }

  #note(session: RootSession, call: Call, result: unknown): void {
    if (call.method === ACP.sessionSetMode) session.state.setMode(stringAt(call.params, "modeId"));
    if (call.method === ACP.sessionSetModel) session.state.setModel(stringAt(call.params, "modelId"));
    const options = isObject(result) ? arrayAt(result, "configOptions") : undefined;
    if (options !== undefined) session.state.setConfigOptions(options);
  }
}

/** Agents have given the method up for an option: what a remote client asks by the old name is asked by the new one. */
function asOption(call: Call, body: AnswerBody, session: RootSession): Call | undefined {
  const isUnknown = "error" in body && body.error.code === RPC.methodNotFound;
  if (!isUnknown || call.method !== ACP.sessionSetModel || call.caller.isPrimary) return undefined;
  const configId = stringAt(optionOf(arrayAt(session.state.result, "configOptions") ?? [], "model"), "id");
  const { modelId: value, ...rest } = call.params;
  if (configId === undefined || value === undefined) return undefined;
  return {
    ...call,
    method: ACP.sessionSetConfigOption,
    params: { ...rest, configId, value },
    answer: (said) => call.answer("result" in said ? { result: {} } : said),
  };
}

/** Where the agent keeps no titles, the one a remote client gave stands here; the editor is told what the agent said (I5). */
function withOwnTitle(call: Call, answer: AnswerBody): AnswerBody {
  const title = stringAt(call.params, "title");
  const isUnknown = "error" in answer && answer.error.code === RPC.methodNotFound;
  const isTitle = call.method === ACP.sessionSetTitle && !call.caller.isPrimary;
  return isUnknown && isTitle && title !== undefined ? { result: { title } } : answer;
}

/** The updates the agent did not send. `state` is the session's, after the call. */
function updatesFor(call: Call, result: unknown, state: JsonObject): JsonObject[] {
  const answered = isObject(result) ? result : {};
  switch (call.method) {
    case ACP.sessionSetMode:
      return modeUpdates(call, state);
    case ACP.sessionSetConfigOption: {
      const configOptions = arrayAt(answered, "configOptions");
      return configOptions === undefined ? [] : [{ sessionUpdate: "config_option_update", configOptions }];
    }
    case ACP.sessionSetTitle: {
      const title = stringAt(answered, "title") ?? stringAt(call.params, "title");
      return title === undefined ? [] : [{ sessionUpdate: "session_info_update", title }];
    }
    default:
      return [];
  }
}

/** A client reads the mode in `modes` or in the option of that name: it is told wherever the agent keeps it. */
function modeUpdates(call: Call, state: JsonObject): JsonObject[] {
  const currentModeId = stringAt(call.params, "modeId");
  if (currentModeId === undefined) return [];
  const configOptions = arrayAt(state, "configOptions") ?? [];
  const isOption = optionOf(configOptions, "mode")?.["currentValue"] === currentModeId;
  const isMode = state["modes"] !== undefined || !isOption;
  return [
    ...(isMode ? [{ sessionUpdate: "current_mode_update", currentModeId }] : []),
    ...(isOption ? [{ sessionUpdate: "config_option_update", configOptions }] : []),
  ];
}
