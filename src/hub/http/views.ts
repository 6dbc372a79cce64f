/** Instances and interactions as the HTTP API shows them (contract §3). */
import type { MirrorSession } from "../../core/mirror/session.ts";
import { objectAt, stringAt } from "../../protocol/json.ts";
import type { Instance } from "../instance.ts";
import { isSuperseded } from "../same-session.ts";

export interface SessionView {
  readonly sessionId: string;
  readonly title: string | null;
  readonly cwd: string;
  readonly status: "idle" | "running" | "waiting";
  readonly updatedAt: number;
  readonly openInteractions: number;
  /** It goes on at another instance, which was active later (S9). */
  readonly superseded?: true;
}

export interface InstanceView {
  readonly id: string;
  readonly pid: number;
  readonly startedAt: number;
  readonly workspace: string;
  readonly name: string;
  readonly agent: { readonly name: string | null; readonly title: string | null; readonly version: string | null };
  readonly origin: "editor" | "headless";
  readonly state: Instance["state"];
  readonly clients: number;
  readonly sessions: readonly SessionView[];
}

function sessionView(instance: Instance, session: MirrorSession<Buffer>, all: readonly Instance[]): SessionView {
  return {
    sessionId: session.id,
    title: session.info.title ?? null,
    cwd: session.info.cwd,
    status: session.info.turn,
    updatedAt: session.updatedAt,
    openInteractions: instance.mirror.openInteractionCount(session),
    ...(isSuperseded(all, instance, session) && { superseded: true }),
  };
}

/** Only listed sessions: an unused one is loadable by id but not shown (S2). `all`: the instances it may share sessions with. */
export function instanceView(instance: Instance, all: readonly Instance[]): InstanceView {
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
    state: instance.state,
    clients: mirror.connectionCount,
    sessions: sessions.map((session) => sessionView(instance, session, all)).sort((a, b) => b.updatedAt - a.updatedAt),
  };
}
