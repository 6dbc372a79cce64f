#!/usr/bin/env node
// An ACP agent that plays a script: for tests that need an agent in a process of its own. Plain Node, nothing to load.
//
//   scripted-agent.mjs SCRIPT         SCRIPT is a JSON file or JSON text; or put either into $SCRIPTED_AGENT
//
// The script is one object; everything in it is optional.
//   record        file that gets every line the agent receives, as it came (newline-delimited JSON)
//   start         steps played before anything is read
//   initialize    members laid over the initialize result, or {"error": {code, message}}
//   sessionIds    ids given to new sessions in turn (then "s1", "s2", ... of its own)
//   sessions      what session/list gives: [{sessionId, cwd, title, updatedAt}]; absent: session/list is -32601
//   new           {"before": steps, "result": {..}, "after": steps}: around the answer of session/new
//   load          {"replay": updates, "result": {..}, "errorIfLive": true, "error": {..}}: session/load. Without `replay`
//                 it replays what this process sent in that session; `errorIfLive` answers -32603 for a session that was
//                 made or loaded here before, as some agents do
//   turns         the turns in order, the last one again and again. Each is an array of steps, or {"match": "word",
//                 "steps": [..]}, which plays whenever the prompt's text holds the word and does not count
//   onCancel      what session/cancel does to running turns: "end" (default: the steps stop, the turn is answered
//                 cancelled), "afterAnswers" (the same, once every open question is answered), "ignore"
//   onSecond      a prompt while another runs: "run" (default: both), "cancelFirst" (the first is answered cancelled)
//   onEof, onTerm "exit" (default) or "ignore"
//   methods       {"session/set_mode": {"result": {..}} | {"error": {..}} | {"never": true}, ..}: fixed answers, which go
//                 before everything above. Requests without any are -32601
//   lineEnd       default "\n"                  chunkBytes   writes its output in pieces of so many bytes
//
// A step is an object; the first of these members says what it does. In its strings `$session` is the session's id,
// `$cwd` its directory and `$answer` the last answer to a question, as JSON.
//   update        {sessionUpdate: .., ..}: one session/update; `session` overrides the session id
//   say           text: one agent_message_chunk      think   text: one agent_thought_chunk
//   stream        {count, bytes, everyMs, kind, messageId}: that many chunks of that many bytes, each "<n> xxx"
//   ask           {toolCall, options}: session/request_permission. true: for a made-up tool call
//   form          a JSON schema: elicitation/create, with `message`
//   request       {method, params}: any request; params.sessionId is filled in. Requests count their ids from 0
//                 on `ask`, `form`, `request`: "wait": false goes on without the answer
//   answers       true: waits until every open question is answered
//   notify        {method, params}: any notification      send  any message, as it stands
//   raw           text: a line on stdout that is no message      stderr  text: a line on stderr
//   waitMs        a pause      waitFor  a method: waits until it is received
//   respond       {result} or {error}: answers the prompt now; later steps are then outside the turn. A turn that ends
//                 without it is answered end_turn
//   never         true: the turn is never answered
//   exit          a code: the process ends at once, output written      kill  a signal the process sends itself
//   close         "stdin" or "stdout": that pipe alone is closed, and the process lives on
import { appendFileSync, closeSync, existsSync, readFileSync } from "node:fs";

const source = process.argv[2] ?? process.env.SCRIPTED_AGENT ?? "{}";
const script = JSON.parse(existsSync(source) ? readFileSync(source, "utf8") : source);
const { lineEnd = "\n", chunkBytes, onCancel = "end", onSecond = "run", methods = {} } = script;

/** Session id → {id, cwd, history, isLive}. */
const sessions = new Map();
/** Request id → resolve, of the questions nobody has answered. */
const questions = new Map();
/** Running turns: {session, id, isOver, stop}. */
const turns = new Set();
/** Method → resolves, of the steps that wait for it. */
const waiting = new Map();
let questionCount = 0;
let sessionCount = 0;
let turnCount = 0;
let lastAnswer = null;
let output = Promise.resolve();

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const errorOf = (code, message) => ({ error: { code, message } });

/** Writes in order; resolves when the pipe has taken it. */
function write(text) {
  const bytes = Buffer.from(text);
  output = output.then(async () => {
    const size = chunkBytes ?? bytes.length;
    for (let at = 0; at < bytes.length; at += size) {
      await new Promise((resolve) => process.stdout.write(bytes.subarray(at, at + size), resolve));
    }
  });
  return output;
}

const send = (message) => write(JSON.stringify({ jsonrpc: "2.0", ...message }) + lineEnd);

function update(session, body) {
  session.history.push(body);
  return send({ method: "session/update", params: { sessionId: session.id, update: body } });
}

function ask(method, params) {
  const id = questionCount;
  questionCount += 1;
  const answered = new Promise((resolve) => questions.set(id, resolve));
  send({ id, method, params });
  return answered;
}

function filled(value, session) {
  if (typeof value === "string") {
    return value
      .replaceAll("$session", session.id)
      .replaceAll("$cwd", session.cwd)
      .replaceAll("$answer", () => JSON.stringify(lastAnswer));
  }
  if (Array.isArray(value)) return value.map((item) => filled(item, session));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(item, session)]));
}

const chunk = (kind, text, messageId) => ({
  sessionUpdate: kind,
  content: { type: "text", text },
  ...(messageId === undefined ? {} : { messageId }),
});

const TOOL_CALL = { toolCallId: "tool-1", title: "Run a command", kind: "execute", rawInput: { command: "ls" } };
const OPTIONS = [
  { optionId: "allow", name: "Allow", kind: "allow_once" },
  { optionId: "always", name: "Always allow", kind: "allow_always" },
  { optionId: "reject", name: "Reject", kind: "reject_once" },
];

async function stream(session, { count, bytes = 20, everyMs = 0, kind = "agent_message_chunk", messageId }, turn) {
  for (let index = 0; index < count && !turn.isStopped; index += 1) {
    const written = update(session, chunk(kind, `${index} `.padEnd(bytes, "x"), messageId));
    if (everyMs > 0) await pause(everyMs);
    else if (process.stdout.writableNeedDrain || index % 64 === 63) await written;
  }
}

async function question(step, session, method, params) {
  const answered = ask(method, { sessionId: session.id, ...params });
  if (step.wait !== false) lastAnswer = await answered;
}

/** What each step does: (its value, the step, the session, the turn). */
const STEPS = {
  update: (body, step, session) => update(step.session === undefined ? session : sessionOf(step.session), body),
  say: (text, _step, session) => update(session, chunk("agent_message_chunk", text)),
  think: (text, _step, session) => update(session, chunk("agent_thought_chunk", text)),
  stream: (spec, _step, session, turn) => stream(session, spec, turn),
  ask: (params, step, session) =>
    question(step, session, "session/request_permission", { toolCall: TOOL_CALL, options: OPTIONS, ...params }),
  form: (requestedSchema, step, session) =>
    question(step, session, "elicitation/create", { mode: "form", message: step.message ?? "?", requestedSchema }),
  request: ({ method, params }, step, session) => question(step, session, method, params),
  answers: () => allAnswered(),
  notify: ({ method, params }) => send({ method, params }),
  send: (message) => send(message),
  raw: (text) => write(text + lineEnd),
  stderr: (text) => new Promise((resolve) => process.stderr.write(`${text}\n`, resolve)),
  waitMs: (ms) => pause(ms),
  waitFor: (method) => new Promise((resolve) => waiting.set(method, [...(waiting.get(method) ?? []), resolve])),
  respond: (body, _step, _session, turn) => answerTurn(turn, body),
  never: (_yes, _step, _session, turn) => {
    turn.isOver = true;
  },
  exit: async (code) => {
    await output;
    process.exit(code);
  },
  close: async (pipe) => {
    await output;
    setInterval(() => undefined, 1e6);
    process[pipe].on("error", () => undefined);
    // Node itself never closes the descriptors of stdio.
    if (pipe === "stdin") await new Promise((resolve) => process.stdin.once("close", resolve).destroy());
    closeSync(pipe === "stdin" ? 0 : 1);
  },
  kill: async (signal) => {
    await output;
    process.kill(process.pid, signal);
    await new Promise(() => undefined);
  },
};

async function allAnswered() {
  while (questions.size > 0)
    await new Promise((resolve) => waiting.set("answer", [...(waiting.get("answer") ?? []), resolve]));
}

async function play(steps = [], session, turn = {}) {
  for (const step of steps) {
    if (turn.isStopped) return;
    const name = Object.keys(STEPS).find((key) => key in step);
    if (name === undefined) throw new Error(`no such step: ${JSON.stringify(step)}`);
    await STEPS[name](filled(step[name], session), step, session, turn);
  }
}

function sessionOf(id, cwd = "/") {
  const known = sessions.get(id);
  if (known !== undefined) return known;
  const session = { id, cwd, history: [], isLive: false };
  sessions.set(id, session);
  return session;
}

function answerTurn(turn, body) {
  if (turn.isOver || turn.id === undefined) return undefined;
  turn.isOver = true;
  turns.delete(turn);
  return send({ id: turn.id, ...body });
}

const textOf = (prompt) => prompt.map((block) => (block.type === "text" ? block.text : "")).join(" ");

function stepsFor(prompt) {
  const all = script.turns ?? [[]];
  const matched = all.find((turn) => !Array.isArray(turn) && textOf(prompt).includes(turn.match));
  if (matched !== undefined) return matched.steps;
  const inOrder = all.filter(Array.isArray);
  const steps = inOrder[Math.min(turnCount, inOrder.length - 1)] ?? [];
  turnCount += 1;
  return steps;
}

async function prompt({ id, params }) {
  const session = sessionOf(params.sessionId);
  if (onSecond === "cancelFirst") for (const turn of [...turns]) if (turn.session === session) stop(turn);
  const messageId = `user-${session.history.length}`;
  for (const content of params.prompt)
    session.history.push({ sessionUpdate: "user_message_chunk", content, messageId });
  const turn = { session, id, isOver: false, isStopped: false };
  turns.add(turn);
  await play(stepsFor(params.prompt), session, turn);
  if (!turn.isStopped) answerTurn(turn, { result: { stopReason: "end_turn" } });
}

function stop(turn) {
  turn.isStopped = true;
  return answerTurn(turn, { result: { stopReason: "cancelled" } });
}

async function cancel(sessionId) {
  if (onCancel === "ignore") return;
  const dying = [...turns].filter((turn) => turn.session.id === sessionId);
  for (const turn of dying) turn.isStopped = true;
  if (onCancel === "afterAnswers") await allAnswered();
  for (const turn of dying) stop(turn);
}

function initialize({ id }) {
  const { error, ...over } = script.initialize ?? {};
  if (error !== undefined) return send({ id, error });
  return send({
    id,
    result: {
      protocolVersion: 1,
      agentInfo: { name: "scripted", version: "1.0.0" },
      agentCapabilities: { loadSession: true, ...(script.sessions && { sessionCapabilities: { list: {} } }) },
      authMethods: [],
      ...over,
    },
  });
}

async function newSession({ id, params }) {
  sessionCount += 1;
  const session = sessionOf(script.sessionIds?.[sessionCount - 1] ?? `s${sessionCount}`, params.cwd);
  session.isLive = true;
  await play(script.new?.before, session);
  send({ id, result: { sessionId: session.id, ...script.new?.result } });
  await play(script.new?.after, session);
}

function load({ id, params }) {
  const { replay, result = {}, errorIfLive, error } = script.load ?? {};
  const session = sessionOf(params.sessionId, params.cwd);
  if (error !== undefined) return send({ id, error });
  if (errorIfLive && session.isLive) return send({ id, ...errorOf(-32603, "Internal error: the session is open") });
  session.isLive = true;
  for (const body of filled(replay ?? session.history, session)) {
    send({ method: "session/update", params: { sessionId: session.id, update: body } });
  }
  return send({ id, result });
}

const REQUESTS = {
  initialize,
  "session/new": newSession,
  "session/load": load,
  "session/prompt": prompt,
  "session/list": ({ id }) =>
    send({
      id,
      ...(script.sessions ? { result: { sessions: script.sessions } } : errorOf(-32601, "Method not found")),
    }),
};

function wake(name) {
  for (const resolve of waiting.get(name) ?? []) resolve();
  waiting.delete(name);
}

function receive(message) {
  if (message.method === undefined) {
    const answered = questions.get(message.id);
    questions.delete(message.id);
    answered?.(message.error === undefined ? message.result : { error: message.error });
    return wake("answer");
  }
  wake(message.method);
  if (message.id === undefined)
    return message.method === "session/cancel" ? cancel(message.params.sessionId) : undefined;
  const fixed = methods[message.method];
  if (fixed !== undefined) return fixed.never ? undefined : send({ id: message.id, ...fixed });
  const handle = REQUESTS[message.method];
  return handle === undefined ? send({ id: message.id, ...errorOf(-32601, "Method not found") }) : handle(message);
}

function onLine(line) {
  if (line.trim() === "") return;
  if (script.record !== undefined) appendFileSync(script.record, `${line}\n`);
  receive(JSON.parse(line));
}

if (script.onTerm === "ignore") process.on("SIGTERM", () => undefined);
await play(script.start, sessionOf("none"));

let partial = Buffer.alloc(0);
process.stdin.on("data", (bytes) => {
  partial = Buffer.concat([partial, bytes]);
  for (let end = partial.indexOf(10); end !== -1; end = partial.indexOf(10)) {
    const line = partial.toString("utf8", 0, end);
    partial = partial.subarray(end + 1);
    onLine(line);
  }
});
process.stdin.on("end", () => {
  if (script.onEof === "ignore") setInterval(() => undefined, 1e6);
  else void output.then(() => process.exit(0));
});
