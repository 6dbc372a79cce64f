/**
 * Several permissions answered in one act: every one of them shown whole, one below the other, and nothing answered that was not
 * shown. Who came later waits for an act of their own.
 */
import { type ReactElement, useEffect, useRef, useState } from "react";
import { selectOption } from "../../client/index.ts";
import { useServices } from "../app/hooks.ts";
import { Icon } from "../ui/icon.tsx";
import { VisibleText } from "../ui/visible-text.tsx";
import { type AlikeItem, type AlikeOffer, alikeOffers } from "./alike.ts";
import { useEndSeen } from "./end-seen.ts";
import { PermissionBody, ReadingHint } from "./permission-body.tsx";
import { useSecondTap } from "./second-tap.ts";
import { useMoveGuard, useTapGuard } from "./tap-guard.ts";

export interface AlikeCardProps {
  /** All that are alike now; those that were not there at the start are left out. */
  readonly items: readonly AlikeItem[];
  readonly onClose: () => void;
}

export function AlikeCard({ items, onClose }: AlikeCardProps): ReactElement | null {
  const { client } = useServices();
  const [taken] = useState(() => new Set(items.map((item) => item.card.interactionId)));
  const shown = items.filter((item) => taken.has(item.card.interactionId));
  const laterCount = items.length - shown.length;
  const element = useRef<HTMLElement>(null);
  const body = useRef<HTMLElement>(null);
  // What is shown is what is answered: whatever changes in it starts the guard and the reading anew.
  const subject = JSON.stringify(shown.map((item) => [item.card.interactionId, item.question]));
  const guard = useTapGuard(subject);
  useMoveGuard(element, guard.restart);
  const reading = useEndSeen(body, subject);
  const isAlone = shown.length < 2;
  useEffect(() => {
    if (isAlone) onClose();
  }, [isAlone, onClose]);
  if (isAlone) return null;
  const answerAll = (offer: AlikeOffer): void => {
    for (const [interactionId, optionId] of offer.optionIds) void client.answer(interactionId, selectOption(optionId));
    onClose();
  };
  return (
    <section className="question alike" ref={element} role="alertdialog" aria-labelledby="alike-title">
      <header className="question-head">
        <Icon name="shield" />
        <h2 id="alike-title">{shown.length} alike at once</h2>
        <button type="button" className="button small" onClick={onClose}>
          One by one
        </button>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what is decided about is read by keyboard too */}
      <section className="question-body" ref={body} tabIndex={0} aria-label="What will happen">
        <ol className="plain alike-list">
          {shown.map(({ card, question }, index) => (
            <li key={card.interactionId} data-interaction={card.interactionId}>
              <h3>
                <span className="chip">{index + 1}</span> <VisibleText text={question.title} />
              </h3>
              <PermissionBody question={question} />
            </li>
          ))}
        </ol>
      </section>
      <ReadingHint reading={reading} />
      {laterCount > 0 && (
        <p className="question-hint" role="status">
          {laterCount === 1 ? "1 more has come since. It is" : `${laterCount} more have come since. They are`} not among
          these.
        </p>
      )}
      <div className="options">
        {alikeOffers(shown).map((offer) => (
          <AllButton
            key={`${offer.kind} ${subject}`}
            offer={offer}
            isGuarded={!guard.isOpen}
            isDisabled={offer.kind === "allow_once" && reading !== "seen"}
            onChoose={(event) => guard.allows(event) && answerAll(offer)}
            allows={guard.allows}
          />
        ))}
      </div>
    </section>
  );
}

interface AllButtonProps {
  readonly offer: AlikeOffer;
  readonly isGuarded: boolean;
  readonly isDisabled: boolean;
  readonly allows: (event: { readonly timeStamp: number }) => boolean;
  readonly onChoose: (event: { readonly timeStamp: number }) => void;
}

/** Allowing several at once wants two taps. A change of what is shown makes another button of it. */
function AllButton({ offer, isGuarded, isDisabled, allows, onChoose }: AllButtonProps): ReactElement {
  const isAllowing = offer.kind === "allow_once";
  const { isArmed, tap } = useSecondTap(isAllowing);
  return (
    <button
      type="button"
      className={`button option ${isAllowing ? "primary" : "danger"}`}
      data-kind={offer.kind}
      disabled={isDisabled}
      aria-disabled={isGuarded}
      onClick={(event) => {
        if (allows(event) && tap()) onChoose(event);
      }}
    >
      <Icon name={isAllowing ? "checkAll" : "close"} />
      <span>
        {isArmed && "Tap again: "}
        <VisibleText text={offer.name} />: all {offer.optionIds.size}
      </span>
    </button>
  );
}
