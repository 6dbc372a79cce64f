/** Push notifications: each thing they need, a test through the real pipeline, and what was delivered lately. */
import { type ReactElement, useEffect, useState } from "react";
import { useLoaded, useObservable, useServices } from "../app/hooks.ts";
import { CheckList } from "../ui/check-list.tsx";
import { Notice } from "../ui/notice.tsx";
import { Page } from "../ui/page.tsx";
import { Deliveries } from "./deliveries.tsx";
import { MutedSessions } from "./muted-sessions.tsx";
import { changeKinds, type PushState, readPushState, subscribe, unsubscribe } from "./push.ts";
import { QuietHoursForm } from "./quiet-hours-form.tsx";
import "./notifications.css";

const KINDS: readonly { readonly name: string; readonly title: string; readonly about: string }[] = [
  { name: "needs-you", title: "Needs you", about: "An agent asks for permission or has a question." },
  { name: "turn-ended", title: "Turn ended", about: "An agent has finished or failed." },
];

const KINDS_NAME = "acp-hub-push-kinds";

export function NotificationsScreen(): ReactElement {
  const { api, wishes: store } = useServices();
  const wishes = useObservable(store.wishes);
  useEffect(() => void store.load(), [store]);
  const [round, setRound] = useState(0);
  const push = useLoaded(() => readPushState(api), [api]);
  const [kinds, setKinds] = useState(readKinds);
  const [message, setMessage] = useState<{ readonly tone: "ok" | "danger"; readonly text: string }>();
  const run = (work: Promise<void>, done: string): void => {
    setMessage(undefined);
    work.then(
      () => {
        setMessage({ tone: "ok", text: done });
        setRound((before) => before + 1);
        push.reload();
      },
      (reason: unknown) =>
        setMessage({ tone: "danger", text: reason instanceof Error ? reason.message : "That did not work" }),
    );
  };
  const toggle = (name: string, isOn: boolean): void => {
    const next = KINDS.map((kind) => kind.name).filter((other) => (other === name ? isOn : kinds.includes(other)));
    setKinds(next);
    localStorage.setItem(KINDS_NAME, JSON.stringify(next));
    if (push.value?.isSubscribed === true) run(changeKinds(api, next), "Saved");
  };
  return (
    <Page title="Notifications" isBusy={push.isLoading}>
      {message !== undefined && <Notice tone={message.tone}>{message.text}</Notice>}
      <p className="muted">While this page is open it tells you by itself. Push reaches you when it is closed.</p>
      {push.value !== undefined && <CheckList checks={push.value.checks} />}
      {push.value !== undefined && <PushButtons push={push.value} kinds={kinds} run={run} />}
      <KindChoices kinds={kinds} onToggle={toggle} />
      {wishes !== undefined && (
        <>
          <QuietHoursForm
            quietHours={wishes.quietHours}
            onChange={(quietHours) => run(store.change({ quietHours }), "Saved")}
          />
          <MutedSessions
            sessionIds={wishes.mutedSessions}
            onUnmute={(id) => run(store.change({ unmute: id }), "Saved")}
          />
        </>
      )}
      {push.value?.isSubscribed === true && <Deliveries round={round} />}
    </Page>
  );
}

interface PushButtonsProps {
  readonly push: PushState;
  readonly kinds: readonly string[];
  readonly run: (work: Promise<void>, done: string) => void;
}

function PushButtons({ push, kinds, run }: PushButtonsProps): ReactElement {
  const { api } = useServices();
  if (!push.isSubscribed) {
    return (
      <div className="row-actions">
        <button
          type="button"
          className="button primary"
          disabled={!push.canSubscribe}
          onClick={() => run(subscribe(api, kinds), "Push is on")}
        >
          Turn on push
        </button>
      </div>
    );
  }
  const sent = "The hub sent a test. It should appear in a moment.";
  return (
    <div className="row-actions">
      <button type="button" className="button" onClick={() => run(api.push.test(), sent)}>
        Send a test
      </button>
      <button type="button" className="button quiet" onClick={() => run(unsubscribe(api), "Push is off")}>
        Turn off push
      </button>
    </div>
  );
}

interface KindChoicesProps {
  readonly kinds: readonly string[];
  readonly onToggle: (name: string, isOn: boolean) => void;
}

function KindChoices({ kinds, onToggle }: KindChoicesProps): ReactElement {
  return (
    <fieldset className="field">
      <legend className="field-label">Tell me when</legend>
      <div className="choices">
        {KINDS.map((kind) => (
          <label className="choice" key={kind.name}>
            <input
              type="checkbox"
              checked={kinds.includes(kind.name)}
              onChange={(event) => onToggle(kind.name, event.target.checked)}
            />
            <span>
              {kind.title}
              <small>{kind.about}</small>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function readKinds(): readonly string[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KINDS_NAME) ?? "null");
    if (Array.isArray(value)) return value.filter((kind): kind is string => typeof kind === "string");
  } catch {
    // Falls through to the default.
  }
  return ["needs-you", "turn-ended"];
}
