/** Push notifications: each thing they need, a test through the real pipeline, and what was delivered lately. */
import { type ReactElement, useState } from "react";
import { useLoaded, useServices } from "../app/hooks.ts";
import { CheckList } from "../ui/check-list.tsx";
import { Notice } from "../ui/notice.tsx";
import { Page } from "../ui/page.tsx";
import { fullTime } from "../ui/time.ts";
import { changeKinds, readPushState, subscribe, unsubscribe } from "./push.ts";

const KINDS: readonly { readonly name: string; readonly title: string; readonly about: string }[] = [
  { name: "needs-you", title: "Needs you", about: "An agent asks for permission or has a question." },
  { name: "turn-ended", title: "Turn ended", about: "An agent has finished or failed." },
];

const KINDS_NAME = "acp-hub-push-kinds";

export function NotificationsScreen(): ReactElement {
  const { api } = useServices();
  const push = useLoaded(() => readPushState(api), [api]);
  const [kinds, setKinds] = useState(readKinds);
  const [message, setMessage] = useState<{ readonly tone: "ok" | "danger"; readonly text: string }>();
  const run = (work: Promise<void>, done: string): void => {
    setMessage(undefined);
    work.then(
      () => {
        setMessage({ tone: "ok", text: done });
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
      <div className="row-actions">
        {push.value?.isSubscribed === false && (
          <button
            type="button"
            className="button primary"
            disabled={!push.value.canSubscribe}
            onClick={() => run(subscribe(api, kinds), "Push is on")}
          >
            Turn on push
          </button>
        )}
        {push.value?.isSubscribed === true && (
          <>
            <button
              type="button"
              className="button"
              onClick={() => run(api.testPush(), "The hub sent a test. It should appear in a moment.")}
            >
              Send a test
            </button>
            <button type="button" className="button quiet" onClick={() => run(unsubscribe(api), "Push is off")}>
              Turn off push
            </button>
          </>
        )}
      </div>
      <fieldset className="field">
        <legend className="field-label">Tell me when</legend>
        <div className="choices">
          {KINDS.map((kind) => (
            <label className="choice" key={kind.name}>
              <input
                type="checkbox"
                checked={kinds.includes(kind.name)}
                onChange={(event) => toggle(kind.name, event.target.checked)}
              />
              <span>
                {kind.title}
                <small>{kind.about}</small>
              </span>
            </label>
          ))}
        </div>
      </fieldset>
      {push.value?.isSubscribed === true && <Deliveries />}
    </Page>
  );
}

function Deliveries(): ReactElement | null {
  const { api } = useServices();
  const deliveries = useLoaded(() => api.pushDeliveries(), [api]);
  if (deliveries.value === undefined || deliveries.value.length === 0) return null;
  return (
    <section className="page-section">
      <h2>Recent deliveries</h2>
      <ul className="plain card-list">
        {deliveries.value.map((delivery) => (
          <li key={delivery.at}>
            <span className="session-row-main">
              <span>{delivery.kind}</span>
              <span className="session-row-place">{fullTime(delivery.at)}</span>
            </span>
            <span className="chip">{delivery.status ?? "waiting"}</span>
          </li>
        ))}
      </ul>
    </section>
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
