/** Instances, sessions, interactions, files, events. */
import { z } from "zod";
import { EVENT_ID_HEADER } from "../../../protocol/event-position.ts";
import { newInstanceBody, titleBody } from "./bodies.ts";
import { inPath, inQuery, json, nothing, type Operation, type Parameter, problemAnswer } from "./operation.ts";
import * as shapes from "./shapes.ts";

const problem = (words: string) => problemAnswer(shapes.problem, words);
const INSTANCE = inPath("id", "An instance.");
const SESSION = inPath("sid", "A session.");
const count = z.int().min(1);

const FILE_QUERY: readonly Parameter[] = [
  { ...inQuery("sessionId", z.string(), "Whose roots the path lies in."), isRequired: true },
  inQuery("path", z.string(), "Absolute, or relative to the session's directory, which it is when absent."),
];
const FILE_PROBLEMS = { 403: problem("Outside the session's roots."), 404: problem("There is nothing.") };
const bytes = { "application/octet-stream": z.unknown(), "image/*": z.unknown() };

const POSITION = {
  [EVENT_ID_HEADER]:
    "The last event of `GET /api/events` that is in this answer: a stream whose `reset` has this id missed nothing.",
};

export const SESSION_OPERATIONS: Readonly<Record<string, Operation>> = {
  "GET /api/instances": {
    summary: "Running bridges and their sessions",
    query: [inQuery("probe", z.string(), "Taken for older clients; the list is always live.")],
    answers: { 200: { ...json(z.array(shapes.instance), "By start time, oldest first."), headers: POSITION } },
  },
  "GET /api/instances/:id": {
    summary: "One instance",
    path: [INSTANCE],
    answers: {
      200: json(shapes.instance, "The instance."),
      404: problem("There is none."),
      503: problem("The hub has just started: it may be on its way back."),
    },
  },
  "GET /api/instances/:id/status": {
    summary: "How an instance stands",
    path: [INSTANCE],
    answers: { 200: json(shapes.instanceStatus, "Its state, clients and sessions."), 404: problem("There is none.") },
  },
  "POST /api/instances": {
    summary: "Start an agent without an editor",
    description:
      "Off until `create.roots` is configured. Takes a profile's name (`zcode`, `demo`, one of the configuration), never a command; without one, the first configured, else `zcode`.",
    body: newInstanceBody,
    answers: {
      201: json(shapes.createdInstance, "It runs."),
      403: problem("`off`, `outside` or `no-profile`."),
      429: problem("Too many run."),
      504: problem("It did not come up."),
    },
  },
  "DELETE /api/instances/:id": {
    summary: "End an instance that was started so",
    path: [INSTANCE],
    answers: { 204: nothing("It ends."), 403: problem("It is an editor's."), 404: problem("There is none.") },
  },
  "POST /api/instances/:id/sessions/:sid/close": {
    summary: "Close a session",
    path: [INSTANCE, SESSION],
    body: z.object({ force: z.boolean().optional() }),
    answers: {
      200: json(z.object({ closed: z.literal(true) }), "It is closed."),
      404: problem("There is none."),
      409: problem("A turn runs."),
    },
  },
  "POST /api/instances/:id/sessions/:sid/rename": {
    summary: "Give a session a title",
    path: [INSTANCE, SESSION],
    body: titleBody,
    answers: { 200: json(z.object({ title: z.string() }), "The title it has now."), 404: problem("There is none.") },
  },
  "GET /api/instances/:id/fs/list": {
    summary: "One level of a directory",
    path: [INSTANCE],
    query: FILE_QUERY,
    answers: { 200: json(shapes.directory, "Directories first."), ...FILE_PROBLEMS },
  },
  "GET /api/instances/:id/fs/file": {
    summary: "Bytes or lines of a file",
    path: [INSTANCE],
    query: [
      ...FILE_QUERY,
      inQuery("offset", z.int().min(0), "First byte."),
      inQuery("length", count, "How many bytes."),
      inQuery("line", count, "First line, from 1."),
      inQuery("limit", count, "How many lines, at most 10000; 1000 when absent."),
    ],
    answers: {
      200: { description: "The file, or the lines.", content: { ...bytes, "text/plain": z.string() } },
      206: { description: "The bytes asked for.", content: bytes },
      ...FILE_PROBLEMS,
      413: problem("These lines are too much for one answer."),
      416: problem("Past the end."),
    },
  },
  "GET /api/instances/:id/fs/search": {
    summary: "Files by a few letters of their name",
    description:
      "Letters in order, in the name or else in the path. Follows no link, skips what `.gitignore` names; stops after 1.5 seconds or 50,000 entries.",
    path: [INSTANCE],
    query: [
      { ...inQuery("sessionId", z.string(), "Whose roots are searched."), isRequired: true },
      inQuery("q", z.string().max(200), "The letters; what is nearest when absent."),
      inQuery("limit", z.int().min(1).max(100), "20 when absent."),
    ],
    answers: {
      200: json(shapes.fileMatches, "Best first."),
      404: problem("There is no such session."),
      429: problem("`busy`: too many searches at once."),
    },
  },
  "GET /api/projects": {
    summary: "Workspaces known from history",
    answers: { 200: json(z.array(shapes.workspace), "The one used last first.") },
  },
  "GET /api/sessions": {
    summary: "Sessions of now and before",
    query: [
      inQuery("q", z.string(), "Words that all occur in one message."),
      inQuery("workspace", z.string(), "A directory and those below it."),
      inQuery("state", z.enum(["idle", "running", "waiting", "closed", "live"]), "Only such sessions."),
      inQuery("cursor", z.string(), "From the page before."),
      inQuery("limit", z.int().min(1).max(200), "50 when absent."),
    ],
    answers: {
      200: json(shapes.sessionPage, "Newest first."),
      429: problem("`busy`: this device has too many searches waiting."),
      503: problem("`busy`: too many wait in all."),
    },
  },
  "GET /api/sessions/:sid/export": {
    summary: "A transcript",
    path: [SESSION],
    query: [inQuery("format", z.enum(["md", "json"]), "md when absent.")],
    answers: {
      200: {
        description: "The transcript.",
        content: { "text/markdown": z.string(), "application/json": shapes.transcript },
      },
      404: problem("There is none."),
      429: problem("`busy`: too many exports at once."),
    },
  },
  "GET /api/interactions": {
    summary: "What agents wait for",
    answers: { 200: { ...json(z.array(shapes.interaction), "Open ones, oldest first."), headers: POSITION } },
  },
  "POST /api/interactions/:id/answer": {
    summary: "Answer an interaction",
    path: [inPath("id", "An interaction.")],
    body: z.object({
      answer: z
        .looseObject({})
        .describe(
          "{optionId} or {cancelled: true} for a permission, {action, content?} for a form, or a full ACP result.",
        ),
    }),
    answers: {
      200: json(shapes.settled, "This answer counts."),
      404: problem("There is none."),
      409: problem("`lost-race`: somebody else was first; `settledBy` says who."),
      422: problem("`invalid`: still open."),
      503: problem("`verdict-pending`: the bridge has not decided yet; the answer is on its way."),
    },
  },
  "GET /api/events": {
    summary: "Changes, so that nobody polls",
    description:
      "Events `instance-added`, `instance-changed`, `instance-removed`, `sessions-changed`, `interactions-changed` {instanceId}, `devices-changed`; `hello` {epoch, beatMs} at first, `reset` when some were missed, `beat`.",
    headers: [{ name: "Last-Event-ID", schema: z.string(), description: "Go on after this one." }],
    answers: {
      200: { description: "Server-sent events.", content: { "text/event-stream": z.string() } },
      429: problem("`busy`: this device has too many streams."),
      503: problem("`busy`: the hub has too many."),
    },
  },
};
