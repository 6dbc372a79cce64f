/** One session on several instances (S9): agent, directory and id tell sessions apart; the one active last goes before the others. */
import type { MirrorSession } from "../core/mirror/session.ts";
import { type SessionKey, sessionKey } from "../store/session-key.ts";
import type { Instance } from "./instance.ts";

/** What of an instance matters to a hub-wide connection. */
export type WideInstance = Pick<Instance, "id" | "hello" | "mirror">;

/** The session's name across instances, as this one holds or lists it. */
export const keyAt = ({ hello }: WideInstance, cwd: string, sessionId: string): SessionKey =>
  sessionKey({ agent: hello.agent ?? hello.name, cwd, sessionId });

/** The instances on which the session is live, the one active last first. */
export function holdersOf(instances: readonly WideInstance[], key: SessionKey, sessionId: string): WideInstance[] {
  const live = instances.flatMap((instance) => {
    const session = instance.mirror.session(sessionId);
    return session !== undefined && keyAt(instance, session.info.cwd, sessionId) === key ? [{ instance, session }] : [];
  });
  return live.sort((a, b) => b.session.updatedAt - a.session.updatedAt).map(({ instance }) => instance);
}

/** The other of these instances at which the session goes on: it was active there later. */
export function successorOf(
  instances: readonly WideInstance[],
  instance: WideInstance,
  { id, info }: MirrorSession<Buffer>,
): WideInstance | undefined {
  const [first] = holdersOf(instances, keyAt(instance, info.cwd, id), id);
  return first === instance ? undefined : first;
}

/** The same session, and not only an equal id, is live on both. */
export function isSameAt(one: WideInstance, other: WideInstance, sessionId: string): boolean {
  const [a, b] = [one, other].map((instance) => {
    const session = instance.mirror.session(sessionId);
    return session === undefined ? undefined : keyAt(instance, session.info.cwd, sessionId);
  });
  return a !== undefined && a === b;
}
