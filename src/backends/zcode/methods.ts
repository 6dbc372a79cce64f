/** The ACP methods this agent serves, one short function each. */
import { ACP } from "../../protocol/acp.ts";
import { hubError, invalidParams, RPC } from "../../protocol/errors.ts";
import { arrayAt, type Json, type JsonObject, numberAt, objectAt, stringAt } from "../../protocol/json.ts";
import { AcpFailure } from "./acp/link.ts";
import { ownCommand } from "./commands.ts";
import type { Extensions } from "./extensions.ts";
import type { Host } from "./host.ts";
import { ZcodeError } from "./rpc/errors.ts";
import type { History } from "./sessions/history.ts";
import { type Lifecycle, sessionDown } from "./sessions/lifecycle.ts";
import { listSessions } from "./sessions/listing.ts";
import { availableConfig } from "./sessions/opened.ts";
import { isUsableCwd } from "./sessions/registry.ts";
import type { Session } from "./sessions/session.ts";
import { configOptions } from "./translate/config-options.ts";
import { promptContent } from "./translate/content.ts";
import type { Prompts } from "./turns/prompts.ts";

export interface MethodParts {
  readonly host: Host;
  readonly lifecycle: Lifecycle;
  readonly prompts: Prompts;
  readonly history: History;
  readonly extensions: Extensions;
}

type Handler = (parts: MethodParts, params: JsonObject, signal: AbortSignal) => Promise<Json>;

const idOf = (params: JsonObject): string => {
  const id = stringAt(params, "sessionId");
  if (id === undefined || id === "") throw new AcpFailure(invalidParams("sessionId", "must be a session id"));
  return id;
};

const opening = (params: JsonObject): { cwd: string | undefined; mcpServers: Json[] | undefined } => ({
  cwd: stringAt(params, "cwd"),
  mcpServers: arrayAt(params, "mcpServers"),
});

/** The session of a request; one from an earlier run of the bridge is found in the file. */
const sessionOf = ({ host }: MethodParts, params: JsonObject): Promise<Session> =>
  host.sessions.resolve(idOf(params), opening(params));

/** Opens an existing session under one more id, or the same again. A session that cannot be opened is forgotten. */
async function open(parts: MethodParts, params: JsonObject): Promise<Session> {
  const { host, lifecycle } = parts;
  const session = await sessionOf(parts, params);
  try {
    await lifecycle.ensureLive(session);
    return session;
  } catch (error) {
    if (session.generation === undefined && session.runs.size === 0) host.sessions.forget(session);
    throw error;
  }
}

/** Open questions and commands follow the response, never come before it. */
function opened(parts: MethodParts, session: Session, alias: string): void {
  const { host } = parts;
  host.clock.setTimeout(() => host.asks.attach(session, alias), 0);
  host.announceCommands(session);
}

const newSession: Handler = async ({ host }, params) => {
  const cwd = stringAt(params, "cwd");
  if (!isUsableCwd(cwd)) throw new AcpFailure(invalidParams("cwd", 'must be an absolute path other than "/"'));
  const sessionId = host.newId();
  const session = host.sessions.create(sessionId, { cwd, mcpServers: arrayAt(params, "mcpServers") });
  await host.store.save(sessionId, { cwd, createdAt: host.clock.now() });
  host.announceCommands(session);
  return { sessionId, ...availableConfig(session) };
};

const load: Handler = async (parts, params) => {
  const session = await open(parts, params);
  const limit = numberAt(objectAt(objectAt(params, "_meta"), "zcode"), "limit");
  const result = await parts.history.load(session, idOf(params), limit);
  opened(parts, session, idOf(params));
  return result;
};

const resume: Handler = async (parts, params) => {
  const session = await open(parts, params);
  opened(parts, session, idOf(params));
  return availableConfig(session);
};

const fork: Handler = async (parts, params) => {
  const session = await open(parts, params);
  const target = objectAt(objectAt(objectAt(params, "_meta"), "zcode"), "target") ?? objectAt(params, "target");
  const forked = await parts.extensions.fork(session, target);
  return { sessionId: forked.mainAlias ?? "", ...availableConfig(forked) };
};

const close: Handler = async (parts, params) => {
  const { host, prompts } = parts;
  const alias = idOf(params);
  const session = host.sessions.byAlias(alias);
  if (session === undefined) return {};
  host.asks.detach(session, alias);
  // Somebody has it open under another id, and maybe a turn runs there.
  if (host.sessions.leave(session, alias)) return {};
  prompts.cancelSession(session);
  host.asks.cancel(session, "The session was closed");
  const live = host.supervisor.current;
  if (live !== undefined && session.generation === live.generation && session.zcodeSid !== undefined) {
    await live.connection.call("session/close", { sessionId: session.zcodeSid }).catch(() => {});
  }
  session.isClosed = true;
  sessionDown(host, session, new ZcodeError("other", "The session was closed"));
  host.sessions.forget(session);
  return {};
};

const prompt: Handler = async (parts, params, signal) => {
  const session = await sessionOf(parts, params);
  const command = ownCommand(promptContent(arrayAt(params, "prompt") ?? []).text);
  if (command === undefined) return parts.prompts.prompt(session, params, signal);
  await parts.extensions.slash(session, command);
  return { stopReason: "end_turn" };
};

const setMode: Handler = async (parts, params) => {
  await parts.extensions.setMode(
    await sessionOf(parts, params),
    stringAt(params, "modeId") ?? stringAt(params, "mode"),
  );
  return {};
};

const setModel: Handler = async (parts, params) => {
  const model = stringAt(params, "modelId") ?? stringAt(params, "model");
  await parts.extensions.setModel(await sessionOf(parts, params), model);
  return {};
};

const setThought: Handler = async (parts, params) => {
  await parts.extensions.setThought(await sessionOf(parts, params), stringAt(params, "thoughtLevel"));
  return {};
};

const setConfigOption: Handler = async (parts, params) => {
  const session = await sessionOf(parts, params);
  const value = stringAt(params, "value");
  const configId = stringAt(params, "configId");
  if (configId === "mode") await parts.extensions.setMode(session, value);
  else if (configId === "model") await parts.extensions.setModel(session, value);
  else if (configId === "thought") await parts.extensions.setThought(session, value);
  else throw new AcpFailure(invalidParams("configId", "must be model, mode or thought"));
  return { configOptions: configOptions(session.settings) };
};

const compact: Handler = async (parts, params) => {
  const session = await sessionOf(parts, params);
  return { outcome: await parts.extensions.compact(session, stringAt(params, "instructions")) };
};

const loadEarlier: Handler = async (parts, params) => {
  const session = parts.host.sessions.byAlias(idOf(params));
  if (session === undefined)
    throw new AcpFailure(hubError(RPC.invalidParams, "unknown-session", "The session is not open; load it first"));
  return parts.history.loadEarlier(session, idOf(params), params);
};

const passThrough =
  (method: string): Handler =>
  async (parts, params) =>
    parts.extensions.passThrough(await sessionOf(parts, params), method, params);

const HANDLERS: Readonly<Record<string, Handler>> = {
  [ACP.sessionNew]: newSession,
  [ACP.sessionLoad]: load,
  [ACP.sessionResume]: resume,
  [ACP.sessionFork]: fork,
  [ACP.sessionClose]: close,
  [ACP.sessionList]: (parts, params) => listSessions(parts.host, params),
  [ACP.sessionPrompt]: prompt,
  [ACP.sessionSetMode]: setMode,
  [ACP.sessionSetModel]: setModel,
  [ACP.sessionSetConfigOption]: setConfigOption,
  "session/setMode": setMode,
  "session/setModel": setModel,
  "session/setThoughtLevel": setThought,
  "session/goal": async (parts, params) => parts.extensions.goal(await sessionOf(parts, params), params),
  "session/compact": compact,
  "session/steer": async (parts, params) => {
    const text = stringAt(params, "content") ?? stringAt(params, "text");
    return parts.extensions.steer(await sessionOf(parts, params), text);
  },
  "session/cancelBackgroundTask": async (parts, params) =>
    parts.extensions.cancelTask(await sessionOf(parts, params), stringAt(params, "taskId")),
  "session/rewind": passThrough("session/rewind"),
  "session/rewindCascade": passThrough("session/rewindCascade"),
  "session/load_earlier": loadEarlier,
};

/** The handler of a method. ACP wants extensions to start with an underscore, so `_zcode/session/goal` is the same as `session/goal`. */
export function handlerOf(method: string): Handler | undefined {
  const name = method.startsWith("_zcode/") ? method.slice("_zcode/".length) : method;
  return Object.hasOwn(HANDLERS, name) ? HANDLERS[name] : undefined;
}
