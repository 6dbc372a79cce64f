/** One session: transcript, questions, composer. */
import { type ReactElement, useCallback, useEffect, useMemo, useState } from "react";
import { type OutboxEntry, type SessionClient, type SessionView, turnOf } from "../../client/index.ts";
import { type JsonObject, objectAt, stringAt } from "../../protocol/json.ts";
import { useObservable, useObservableFrame, useSame, useServices } from "../app/hooks.ts";
import { ApprovalSheet } from "../approval/approval-sheet.tsx";
import { Composer } from "../composer/composer.tsx";
import type { Draft } from "../composer/drafts.ts";
import { QueueStrip } from "../composer/queue-strip.tsx";
import { markSeen } from "../home/seen.ts";
import { OpenStateProvider } from "../transcript/open-state.tsx";
import { Transcript } from "../transcript/transcript.tsx";
import { Icon } from "../ui/icon.tsx";
import { Announcer } from "./announcer.tsx";
import { LeftNotice } from "./left-notice.tsx";
import { PlanStrip } from "./plan-strip.tsx";
import { SessionHeader } from "./session-header.tsx";
import { useRights } from "./use-rights.ts";
import "./session.css";

export interface SessionScreenProps {
  readonly sessionId: string;
  readonly instanceId: string | undefined;
}

export function SessionScreen({ sessionId, instanceId }: SessionScreenProps): ReactElement {
  const session = useHeldSession(sessionId, instanceId);
  if (session === undefined) return <div className="session" />;
  return (
    <OpenStateProvider key={sessionId}>
      <OpenSession session={session} instanceId={instanceId} />
    </OpenStateProvider>
  );
}

function useHeldSession(sessionId: string, instanceId: string | undefined): SessionClient | undefined {
  const { keeper } = useServices();
  const [held, setHeld] = useState(() => keeper.held(sessionId));
  useEffect(() => {
    let isCurrent = true;
    const { ready, release } = keeper.hold(sessionId, instanceId);
    void ready.then((session) => isCurrent && setHeld(session));
    return () => {
      isCurrent = false;
      release();
    };
  }, [keeper, sessionId, instanceId]);
  return held?.sessionId === sessionId ? held : undefined;
}

interface OpenSessionProps {
  readonly session: SessionClient;
  readonly instanceId: string | undefined;
}

function OpenSession({ session, instanceId }: OpenSessionProps): ReactElement {
  const view = useObservableFrame(session.view);
  const entries = useSessionEntries(session.sessionId);
  const [handed, setHanded] = useState<Draft>();
  const rights = useRights();
  const turn = useMemo(() => turnOf(view.transcript.turn, view.sessionId), [view.transcript.turn, view.sessionId]);
  const { attach, isCatchingUp, isReadOnly, sessionId, agent, attendants, transcript } = view;
  const isLive = attach.kind === "live";
  // While all is well nobody needs to know when the last word came.
  const heardAt = isLive ? undefined : view.heardAt;
  const { info, usage, commands, modes, configOptions } = transcript;
  const head = useSame({ attach, heardAt, isCatchingUp, isReadOnly, sessionId, agent, attendants, info, usage });
  const prompts = promptCapabilities(view, useConnectionState());
  const readAt = stringAt(agent, "instance") ?? instanceId;
  const files = rights("files:read") && !isReadOnly ? readAt : undefined;
  const takesTexts = prompts?.["embeddedContext"] === true;
  const offers = useSame({ sessionId, isLive, commands, modes, configOptions, filesOf: files, takesTexts });
  const edit = useCallback((draft: Draft) => setHanded({ ...draft }), []);
  const ownIds = useMemo(() => new Set(entries.map((entry) => entry.promptId)), [entries]);
  const { hubClock } = useServices();
  const offset = useObservable(hubClock.offset);
  // By the hub's clock, as what it says of the session's last change.
  const seenAt = view.heardAt === undefined ? undefined : view.heardAt + offset;
  useEffect(() => markSeen(view.sessionId, seenAt), [view.sessionId, seenAt]);
  const canPrompt = rights("sessions:prompt") && !view.isReadOnly;
  return (
    <div className="session" data-attach={view.attach.kind}>
      <SessionHeader session={session} view={head} instanceId={readAt} turn={turn} canPrompt={canPrompt} />
      <LeftNotice sessionId={sessionId} instanceId={readAt} />
      <PlanStrip plan={view.transcript.plan} isRunning={turn.state !== "idle"} />
      <Transcript session={session} view={view} entries={entries} onEdit={edit} />
      <ApprovalSheet sessionId={session.sessionId} canAnswer={rights("interactions:answer")} />
      <QueueStrip session={session} queue={turn.queue} ownIds={ownIds} canChange={canPrompt} />
      {canPrompt ? (
        <Composer
          session={session}
          offers={offers}
          isRunning={turn.state !== "idle"}
          takesImages={prompts?.["image"] === true}
          canSetOptions={rights("interactions:answer")}
          handed={handed}
        />
      ) : (
        <p className="viewing-only">
          <Icon name="eye" small />{" "}
          {view.isReadOnly
            ? "History only: no agent runs behind this session."
            : "Viewing only. To write here, pair this device again with “Drive”."}
        </p>
      )}
      <Announcer view={view} />
    </div>
  );
}

function useSessionEntries(sessionId: string): readonly OutboxEntry[] {
  const { client } = useServices();
  const entries = useObservable(client.outbox.entries);
  return useMemo(() => entries.filter((entry) => entry.sessionId === sessionId), [entries, sessionId]);
}

/** What the agent said it takes; told with the session on a hub-wide connection, at initialize on a bound one. */
function promptCapabilities(
  view: SessionView,
  connection: ReturnType<typeof useConnectionState>,
): JsonObject | undefined {
  const agent = objectAt(view.agent, "agentCapabilities");
  const own = connection.kind === "ready" ? objectAt(connection.info.result, "agentCapabilities") : undefined;
  return objectAt(agent ?? own, "promptCapabilities");
}

function useConnectionState() {
  return useObservable(useServices().client.connection.state);
}
