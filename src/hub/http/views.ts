/** Instances and interactions as the HTTP API shows them (contract §3). */
import type { LastLine } from "../../core/journal/last-line.ts";
import type { MirrorSession } from "../../core/mirror/session.ts";
import { objectAt, stringAt } from "../../protocol/json.ts";
import type { Instance } from "../instance.ts";
import { successorOf } from "../same-session.ts";

/** The last line of a session, where one is known; both or none. */
export interface LineView {
  /** One line of plain text: of the last message, or the title of the tool after it. */
  readonly lastText: string | null;
  readonly lastFrom: LastLine["from"] | null;
}

export interface SessionView extends LineView {
  readonly sessionId: string;
  readonly title: string | null;
  readonly cwd: string;
  /** Of the repository `cwd` is in, or the first digits of its commit. */
  readonly branch: string | null;
  readonly status: "idle" | "running" | "waiting";
  /** Since when, where that is known. */
  readonly turnSince: number | null;
  readonly updatedAt: number;
  readonly openInteractions: number;
  /** It goes on at another instance, which was active later (S9). */
  readonly superseded?: true;
  /** The id of that instance. */
  readonly supersededBy?: string;
}

export interface InstanceView {
  readonly id: string;
  readonly pid: number;
  readonly startedAt: number;
  readonly workspace: string;
  readonly name: string;
  readonly agent: { readonly name: string | null; readonly title: string | null; readonly version: string | null };
  readonly origin: "editor" | "headless";
  /** What the editor calls itself; null where there is none, or it has not said yet. */
  readonly editor: string | null;
  readonly state: Instance["state"];
  readonly clients: number;
  readonly sessions: readonly SessionView[];
}

export const lineView = (line: LastLine | undefined): LineView => ({
  lastText: line?.text ?? null,
  lastFrom: line?.from ?? null,
});

/** What a view needs to know besides the instance. */
export interface Around {
  /** The instances it may share sessions with. */
  readonly all: readonly Instance[];
  branchOf(directory: string): string | undefined;
}

function sessionView(instance: Instance, session: MirrorSession<Buffer>, { all, branchOf }: Around): SessionView {
  const successor = successorOf(all, instance, session);
  return {
    sessionId: session.id,
    title: session.info.title ?? null,
    cwd: session.info.cwd,
    branch: branchOf(session.info.cwd) ?? null,
    status: session.info.turn,
    turnSince: session.turnSince ?? null,
    updatedAt: session.updatedAt,
    openInteractions: instance.mirror.openInteractionCount(session),
    ...lineView(session.lastLine),
    ...(successor !== undefined && { superseded: true, supersededBy: successor.id }),
  };
}

/** Only listed sessions: an unused one is loadable by id but not shown (S2). */
export function instanceView(instance: Instance, around: Around): InstanceView {
  const { hello, mirror } = instance;
  const info = objectAt(mirror.agentInfo, "agentInfo");
  const sessions = [...mirror.sessions].filter((session) => session.info.listed);
  return {
    id: instance.id,
    pid: hello.pid,
    startedAt: hello.startedAt,
    workspace: hello.workspace,
    name: hello.name,
    agent: {
      name: stringAt(info, "name") ?? null,
      title: stringAt(info, "title") ?? null,
      version: stringAt(info, "version") ?? null,
    },
    origin: hello.origin,
    editor: mirror.editorName ?? null,
    state: instance.state,
    clients: mirror.connectionCount,
    sessions: sessions
      .map((session) => sessionView(instance, session, around))
      .sort((a, b) => b.updatedAt - a.updatedAt),
  };
}
