/** What can be done with a session as a whole, and the facts about it. */
import { type ReactElement, useState } from "react";
import type { SessionClient, TranscriptChanges } from "../../client/index.ts";
import type { TurnNotice } from "../../protocol/hub-methods.ts";
import { isObject, numberAt, objectAt, stringAt } from "../../protocol/json.ts";
import { useObservable, useServices } from "../app/hooks.ts";
import { hrefOf } from "../app/route.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import type { IconName } from "../ui/icon-paths.ts";
import { moneyText } from "../ui/money.ts";
import { Notice } from "../ui/notice.tsx";
import { RenameForm } from "../ui/rename-form.tsx";
import { AttendantList } from "./attendants.tsx";
import type { HeaderView } from "./session-header.tsx";
import { useRights } from "./use-rights.ts";

export interface SessionMenuProps {
  readonly session: SessionClient;
  readonly view: HeaderView;
  readonly turn: TurnNotice;
  readonly title: string;
  /** Undefined for a session that is not live. */
  readonly instanceId: string | undefined;
  readonly canPrompt: boolean;
  readonly onClose: () => void;
}

export function SessionMenu(props: SessionMenuProps): ReactElement {
  const { session, view, turn, title, instanceId, canPrompt, onClose } = props;
  const { api, router } = useServices();
  const rights = useRights();
  const [error, setError] = useState<string>();
  const run = (work: Promise<void>, isLast = true): void => {
    setError(undefined);
    work.then(
      () => isLast && onClose(),
      (reason: unknown) => setError(reason instanceof Error ? reason.message : "That did not work"),
    );
  };
  const close = async (): Promise<void> => {
    await api.closeSession(instanceId ?? "", view.sessionId);
    router.go({ screen: "home" });
  };
  return (
    <Dialog title={title} onClose={onClose}>
      {error !== undefined && <Notice tone="danger">{error}</Notice>}
      <Facts session={session} view={view} turn={turn} />
      {canPrompt && instanceId !== undefined && (
        <RenameForm
          label="Title of the session"
          name={title}
          maxLength={200}
          onRename={(name) => run(api.renameSession(instanceId, view.sessionId, name))}
        />
      )}
      <ul className="plain menu">
        {rights("files:read") && instanceId !== undefined && (
          <li>
            <a href={hrefOf({ screen: "files", sessionId: view.sessionId, instanceId, path: "" })}>
              <Icon name="folder" /> Files
            </a>
          </li>
        )}
        <MuteItem sessionId={view.sessionId} onChange={(change) => run(change, false)} />
        <MenuItem
          icon="download"
          text="Export as Markdown"
          onClick={() => run(download(api.exportSession(view.sessionId, "md"), `${title}.md`))}
        />
        <MenuItem
          icon="code"
          text="Export as JSON"
          onClick={() => run(download(api.exportSession(view.sessionId, "json"), `${title}.json`))}
        />
        <ReloadItem session={session} />
        {canPrompt && instanceId !== undefined && (
          <MenuItem icon="close" text="Close the session" onClick={() => run(close())} />
        )}
      </ul>
    </Dialog>
  );
}

/** Loads the session anew, and says what had been missing. */
function ReloadItem({ session }: { readonly session: SessionClient }): ReactElement {
  const [state, setState] = useState<"loading" | TranscriptChanges | "failed">();
  const reload = (): void => {
    setState("loading");
    void session.reload().then((changes) => setState(changes ?? "failed"));
  };
  const words = state === "loading" ? "Reloading…" : state === undefined ? "" : reloadWords(state);
  return (
    <li>
      <button type="button" disabled={state === "loading"} onClick={reload}>
        {state === "loading" ? <span className="spinner" /> : <Icon name="refresh" />}
        <span className="session-row-main">
          Reload everything
          <span className="session-row-place" role="status">
            {words}
          </span>
        </span>
      </button>
    </li>
  );
}

function reloadWords(state: TranscriptChanges | "failed"): string {
  if (state === "failed") return "It could not be loaded now. What is here stays.";
  const parts = [
    ...(state.added > 0 ? [`${state.added} new`] : []),
    ...(state.changed > 0 ? [`${state.changed} changed`] : []),
  ];
  return parts.length === 0 ? "Loaded anew: nothing was missing." : `Loaded anew: ${parts.join(", ")}.`;
}

interface MuteItemProps {
  readonly sessionId: string;
  readonly onChange: (change: Promise<void>) => void;
}

/** For this device alone. Absent while the hub has not told how it stands. */
function MuteItem({ sessionId, onChange }: MuteItemProps): ReactElement | null {
  const { wishes: store } = useServices();
  const wishes = useObservable(store.wishes);
  if (wishes === undefined) return null;
  const isMuted = wishes.mutedSessions.includes(sessionId);
  return (
    <MenuItem
      icon={isMuted ? "bell" : "bellOff"}
      text={isMuted ? "Unmute notifications" : "Mute notifications here"}
      onClick={() => onChange(store.change(isMuted ? { unmute: sessionId } : { mute: sessionId }))}
    />
  );
}

function MenuItem({
  icon,
  text,
  onClick,
}: {
  readonly icon: IconName;
  readonly text: string;
  readonly onClick: () => void;
}): ReactElement {
  return (
    <li>
      <button type="button" onClick={onClick}>
        <Icon name={icon} /> {text}
      </button>
    </li>
  );
}

function Facts({ session, view, turn }: Pick<SessionMenuProps, "session" | "view" | "turn">): ReactElement {
  const { usage } = view;
  const agent = objectAt(view.agent, "agentInfo");
  return (
    <dl className="facts">
      <Fact name="Agent" value={stringAt(agent, "title") ?? stringAt(agent, "name")} />
      {view.attendants.length > 0 && (
        <>
          <dt>Attached</dt>
          <dd>
            <AttendantList session={session} attendants={view.attendants} turn={turn} />
          </dd>
        </>
      )}
      <Fact name="Context" value={contextText(usage)} />
      <Fact name="Cost" value={costText(usage)} />
      <Fact name="Session" value={view.sessionId} isMono />
    </dl>
  );
}

function Fact({
  name,
  value,
  isMono = false,
}: {
  readonly name: string;
  readonly value: string | undefined;
  readonly isMono?: boolean;
}): ReactElement | null {
  if (value === undefined) return null;
  return (
    <>
      <dt>{name}</dt>
      <dd className={isMono ? "mono" : undefined}>{value}</dd>
    </>
  );
}

const grouped = new Intl.NumberFormat();

function contextText(usage: HeaderView["usage"]): string | undefined {
  const used = numberAt(usage, "used");
  const size = numberAt(usage, "size");
  if (used === undefined) return undefined;
  if (size === undefined || size === 0) return `${grouped.format(used)} tokens`;
  return `${Math.round((used / size) * 100)} % (${grouped.format(used)} of ${grouped.format(size)} tokens)`;
}

function costText(usage: HeaderView["usage"]): string | undefined {
  const cost = usage?.["cost"];
  if (!isObject(cost)) return undefined;
  const amount = numberAt(cost, "amount");
  return amount === undefined ? undefined : moneyText(amount, stringAt(cost, "currency") ?? "");
}

async function download(response: Promise<Response>, name: string): Promise<void> {
  const blob = await (await response).blob();
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name.replaceAll(/[\\/:*?"<>|]/g, "-");
  link.click();
  // The browser reads the address in this task; later it is only memory.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
