/** Open questions of all sessions, oldest first: the reason this app exists. */
import { type ReactElement, useState } from "react";
import type { InteractionCard } from "../../client/index.ts";
import { type HomeState, instanceOf, sessionAt } from "../app/home-store.ts";
import { hrefOf } from "../app/route.ts";
import { useFocusReturn } from "../approval/focus-return.ts";
import { questionTitle } from "../approval/question.ts";
import { SettledStrip, useRecentlySettled } from "../approval/settled-strip.tsx";
import { useRights } from "../session/use-rights.ts";
import { Icon } from "../ui/icon.tsx";
import { late } from "../ui/late.tsx";
import { baseName } from "../ui/path.ts";
import { ago } from "../ui/time.ts";
import { VisibleText } from "../ui/visible-text.tsx";

const QuestionCard = late(async () => (await import("../approval/question-card.tsx")).QuestionCard);

export interface NeedsYouProps {
  readonly cards: readonly InteractionCard[];
  readonly home: HomeState;
  readonly now: number;
  /** The session that is shown beside the list: it says itself how its questions ended. */
  readonly currentId: string | undefined;
}

export function NeedsYou({ cards, home, now, currentId }: NeedsYouProps): ReactElement | null {
  const settled = useRecentlySettled(({ card }) => card.sessionId !== currentId || currentId === undefined);
  const focus = useFocusReturn(cards.map((card) => card.interactionId).join(" "), () =>
    document.querySelector(".home .need-line, .home .session-row"),
  );
  if (cards.length === 0 && settled === undefined) return null;
  return (
    <section className="home-section needs-you" aria-labelledby="needs-you" {...focus}>
      <h2 id="needs-you">Needs you {cards.length > 0 && <span className="count">{cards.length}</span>}</h2>
      {settled !== undefined && <SettledStrip key={settled.card.interactionId} settled={settled} />}
      <ul className="plain">
        {cards.map((card) => (
          <NeedsYouLine key={card.interactionId} card={card} home={home} now={now} />
        ))}
      </ul>
    </section>
  );
}

function NeedsYouLine({
  card,
  home,
  now,
}: {
  readonly card: InteractionCard;
  readonly home: HomeState;
  readonly now: number;
}): ReactElement {
  const [isOpen, setOpen] = useState(false);
  const rights = useRights();
  const { sessionId = "" } = card;
  const instance = instanceOf(home, sessionId, card.instanceId);
  const session = sessionAt(instance, sessionId);
  const place = instance === undefined ? undefined : baseName(session?.cwd ?? instance.workspace);
  return (
    <li className="need">
      <button type="button" className="need-line" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name="shield" />
        <span className="session-row-main">
          <span className="session-row-title truncate">
            <VisibleText text={questionTitle(card)} />
          </span>
          <span className="session-row-place need-place">
            <span className="truncate">{session?.title ?? "Session"}</span>
            {place !== undefined && <span className="truncate">· {place}</span>}
          </span>
        </span>
        <span className="session-row-side">{ago(card.openedAt, now)}</span>
        <Icon name="chevron" small />
      </button>
      {isOpen && <QuestionCard card={card} canAnswer={rights("interactions:answer")} />}
      {isOpen && card.sessionId !== undefined && (
        <a
          className="need-open"
          href={hrefOf({ screen: "session", sessionId: card.sessionId, instanceId: instance?.id ?? card.instanceId })}
        >
          Open the session <Icon name="chevron" small />
        </a>
      )}
    </li>
  );
}
