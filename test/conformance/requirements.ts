/**
 * The rules as data: what a test can cite in its title. The texts are summaries; the rules themselves are
 * docs/semantics.md (R..T), docs/contract.md (C) and docs/architecture.md (D). `part` is the step of the work a rule
 * belongs to: `coverage.test.ts` demands a citing test for every rule of the enforced parts.
 */
export type Part = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;

export interface Requirement {
  readonly id: string;
  readonly part: Part;
  readonly says: string;
}

const rule = (id: string, part: Part, says: string): Requirement => ({ id, part, says });

const ROLES: readonly Requirement[] = [
  rule("R1", 1, "Every decision is the root's; a mirror passes prompts and cancels on, whatever it believes."),
  rule("R2", 1, "An interaction has one id for ever, minted by the root and carried by every offered copy."),
  rule("R3", 1, "A mirror proposes its first valid answer; the root's verdict alone closes, announces and records."),
  rule("R4", 2, "After a lost link the root names what is open and settled, and the mirror brings its copies in line."),
  rule("R5", 1, "What is owed to a dead link is dropped; settlements and turn notices are numbered events."),
];

const INITIALIZE: readonly Requirement[] = [
  rule("I1", 1, "initialize comes first, answers the common version, and may come again to re-declare a client."),
  rule("I2", 1, "The agent is initialized once, with the primary's own words; a failure is returned, not remembered."),
  rule("I3", 1, "Capabilities are kept per connection and OR-merged; a spawned agent is told only what is guaranteed."),
  rule("I4", 1, "File and terminal capabilities are the primary's; a headless instance has none."),
  rule("I5", 1, "A client gets the agent's own result; only remote ones also get what the hub adds."),
];

const UPDATES: readonly Requirement[] = [
  rule("B1", 1, "Agent notifications reach every client in scope in one order; the primary gets the agent's bytes."),
  rule("B2", 1, "A load's replay goes to the loader alone, before its response, with live updates after it."),
  rule("B3", 1, "A prompt is echoed whole to the other clients when it starts, never to its author."),
  rule("B4", 1, "Turn state is announced from prompts and backend reports, the end before the prompt's response."),
  rule("B5", 1, "A client that does not read delays nobody; it is bounded, caught up or closed."),
  rule(
    "B6",
    1,
    "Updates outside turns are delivered; one queue per session and client keeps the order of all messages.",
  ),
  rule("B7", 1, "Unknown methods, kinds, fields and foreign _meta pass every hop untouched."),
];

const INTERACTIONS: readonly Requirement[] = [
  rule("X1", 1, "An interaction is offered to every client in scope that can show it."),
  rule("X2", 1, "The first valid answer goes to the agent once; the others get a cancel under their own ids."),
  rule("X3", 1, "Errors, invalid answers and disconnects abstain; only the primary alone is transparent."),
  rule("X4", 1, "A late answer changes nothing and its sender is told who won."),
  rule("X5", 1, "Without clients an interaction stays open; no timeout decides."),
  rule("X6", 1, "After a load or resume the client gets the session's open interactions, each exactly once."),
  rule(
    "X7",
    1,
    "A cancel is forwarded once, open interactions are answered cancelled, waiting prompts of others stay.",
  ),
  rule("X8", 2, "A client without forms gets the form as permission steps, in the same race."),
  rule("X9", 1, "The agent's own cancel ends the race and is answered."),
  rule("X10", 1, "Several interactions are open at once; plain clients see one at a time, and nobody approves blind."),
  rule("X11", 3, "Where a client cannot be cancelled, the tool card still reaches its final state."),
  rule("X12", 3, "A url elicitation stays with one owner; a request-scoped one goes to the client it names."),
  rule("X13", 2, "Every settling is recorded with what, who and when, free text as its length."),
];

const PROMPTS: readonly Requirement[] = [
  rule(
    "P1",
    1,
    "One lane per session orders the prompts of different clients; it is bounded and can be seen and changed.",
  ),
  rule("P2", 1, "Every prompt gets one response, and a turn outlives the connection that started it."),
  rule("P3", 2, "A prompt id makes a retry join the first try; it never runs twice."),
  rule("P4", 1, "Cancelling a queued prompt removes it; cancelling a running one cancels the turn first."),
  rule("P5", 1, "Ids of different clients never collide and come back exactly as they were sent."),
];

const SESSIONS: readonly Requirement[] = [
  rule("S1", 1, "A load is served from the journal when it can be, else by one agent call that starts a new epoch."),
  rule("S2", 1, "The list joins live sessions with the agent's, and hides unused ones."),
  rule("S3", 2, "A cursor gets exactly what was missed, or gap or reset with a reason and a replay."),
  rule("S4", 2, "A replay is coalesced: joined chunks, latest tool cards, last states."),
  rule("S5", 1, "A late joiner knows modes, options, commands, plan, title and usage."),
  rule(
    "S6",
    1,
    "Close detaches; setters are serialised and told to the others; early updates are held, within bounds.",
  ),
  rule("S7", 3, "Files and terminals belong to the session's opener, else the bridge serves them inside its roots."),
  rule("S8", 1, "When the agent exits, everything open is answered with its exit code and the end of its stderr."),
  rule("S9", 3, "A session is known by agent, directory and id; what is ambiguous is refused with the candidates."),
];

const LIFETIME: readonly Requirement[] = [
  rule("L1", 1, "When the editor closes stdio the bridge ends the agent and itself."),
  rule("L2", 2, "A killed hub costs the editor nothing; clients resume and nothing is doubled."),
  rule("L3", 1, "A killed bridge vanishes at once; its interactions end and its history stays."),
  rule("L4", 1, "A link that answers no pings is dropped."),
  rule("L5", 2, "The state of an instance follows its link and its pid: gone, unreachable, unresponsive."),
  rule("L6", 3, "Idle headless instances and on-demand hubs end; served ones never do."),
];

const TRANSPORT: readonly Requirement[] = [
  rule("T1", 1, "Binary frames and several messages per frame are read; junk is refused without closing."),
  rule("T2", 1, "Stdio is split on the byte 0x0A alone; large lines, bad UTF-8 and junk lines have a named fate."),
  rule("T3", 1, "An agent has its own process group and is ended by EOF, TERM and KILL, each bounded."),
  rule("T4", 1, "With a terminal on stdin the bridge is the agent itself; the agent's stderr passes through."),
];

const CONTRACT: readonly Requirement[] = [
  rule("C1.exit-codes", 2, "Commands end with 0, 1, 2 or 3; data is on stdout and words on stderr."),
  rule(
    "C1.serve",
    2,
    "serve says where it listens when it is ready; port 0 picks one; --demo has a session to attach to.",
  ),
  rule("C1.bridge", 1, "bridge takes a profile or a command, and its stdout carries ACP only."),
  rule("C1.attach", 4, "attach is an ACP agent that is a shared session; its token never stands on the command line."),
  rule("C1.pair", 3, "pair prints a one-time link, code and QR."),
  rule("C1.token", 3, "token creates, lists and revokes credentials; a new one is alone on stdout."),
  rule("C1.devices", 3, "devices lists, renames and revokes."),
  rule("C1.drive", 4, "Sessions, prompts and interactions can be driven from scripts."),
  rule("C1.daemon", 4, "status, stop, logs, doctor and discover look after the daemon."),
  rule("C1.service", 5, "service installs and removes the unit of the system's supervisor."),
  rule("C1.config", 4, "Flag over environment over file over default, and config explain says which it was."),
  rule("C1.files", 2, "The home has the named files; directories are 0700 and files 0600."),
  rule("C1.address", 2, "The default is loopback; more needs an explicit host; a taken port has a clear end."),
  rule("C1.zcode-env", 5, "The predecessor's variables keep their meaning for the zcode profile."),
  rule("C2.scopes", 2, "A request without its scope is refused by name, never silently."),
  rule("C2.methods", 2, "Each ACP method needs the scopes of the table; unknown ones need prompt."),
  rule("C2.reread", 3, "Scopes are read again when an answer or prompt is applied."),
  rule("C2.parameters", 3, "Without admin, parameters that carry power of their own are dropped or refused by name."),
  rule("C2.tokens", 3, "Access tokens are short; refresh credentials rotate, and reuse revokes the device."),
  rule(
    "C2.issuer",
    6,
    "An external issuer can be trusted by configuration, and its tokens end sockets when they expire.",
  ),
  rule("C2.carriers", 3, "Bearer, cookie with key, subprotocol and ticket are taken as written, and reach no log."),
  rule("C2.environment", 1, "The agent's environment holds none of our variables."),
  rule("C3.problem", 2, "HTTP errors are problem documents with a code."),
  rule("C3.order", 3, "Host, origin, credential, scope, rate and size are checked in this order."),
  rule("C3.cors", 3, "Other origins only by exact entries; never a star, never with cookies."),
  rule("C3.health", 2, "The health routes need no credential."),
  rule("C3.metrics", 5, "Metrics are for admin or the local socket."),
  rule("C3.pairing", 3, "A pairing code is used once and gives no more scope than its issuer has."),
  rule("C3.devices", 3, "Revocation closes the device's sockets within a second."),
  rule("C3.instances", 2, "Instances are listed, read, started and stopped as the table says."),
  rule("C3.files", 6, "File routes stay inside the session's roots, symlinks resolved."),
  rule("C3.history", 4, "Projects, sessions and exports come from history, searched and paged."),
  rule("C3.interactions", 3, "Open interactions are listed and answered; a lost race is 409 with the winner."),
  rule("C3.events", 4, "Changes come as server-sent events that resume."),
  rule("C3.openapi", 8, "The OpenAPI document has every route and says what it answers."),
  rule("C4.upgrade", 2, "A refused upgrade has a real status; an accepted one carries the connection id."),
  rule("C4.scope", 2, "A connection is hub-wide or bound to an instance or session, and its initialize says which."),
  rule(
    "C4.initialize",
    2,
    "The initialize result carries the hub's member; notices go only to clients that declared it.",
  ),
  rule("C4.extensions", 2, "The extension methods and notices have the listed payloads."),
  rule("C4.dialect", 5, "The predecessor's dialect is served to connections that speak it."),
  rule("C4.attach-draft", 6, "Clients of the public attach draft are understood."),
  rule("C4.close-codes", 2, "Close codes have one table with their retry policy."),
  rule("C5.discovery", 5, "The hub is advertised only beyond loopback, without secrets or names."),
  rule("C6.limits", 2, "Every limit has the listed default and can be configured."),
  rule("C7.hello", 1, "The link opens with hello and snapshot, then sends what the hub has not acknowledged."),
  rule("C7.versions", 3, "A hub talks to bridges of the last two minor lines."),
  rule("D5.arrows", 1, "Imports follow the arrows of the source layout."),
];

export const REQUIREMENTS: readonly Requirement[] = [
  ...ROLES,
  ...INITIALIZE,
  ...UPDATES,
  ...INTERACTIONS,
  ...PROMPTS,
  ...SESSIONS,
  ...LIFETIME,
  ...TRANSPORT,
  ...CONTRACT,
];
