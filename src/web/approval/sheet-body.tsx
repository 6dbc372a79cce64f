/** The open questions of a session, above the composer. The transcript stays in sight: people decide with context. */
import { type ReactElement, useCallback, useRef, useState } from "react";
import type { InteractionCard, SettledCard } from "../../client/index.ts";
import { useServices } from "../app/hooks.ts";
import { Icon } from "../ui/icon.tsx";
import { IconButton } from "../ui/icon-button.tsx";
import { type AlikeItem, alikeItems, alikeOffers } from "./alike.ts";
import { AlikeCard } from "./alike-card.tsx";
import { useFocusReturn } from "./focus-return.ts";
import { knownCard } from "./known-card.ts";
import { readQuestion } from "./question.ts";
import { QuestionCard } from "./question-card.tsx";
import { SettledStrip } from "./settled-strip.tsx";

export interface SheetBodyProps {
  readonly cards: readonly InteractionCard[];
  readonly settled: SettledCard | undefined;
  readonly canAnswer: boolean;
}

export function SheetBody({ cards, settled, canAnswer }: SheetBodyProps): ReactElement | null {
  const [shownId, setShownId] = useState<string>();
  const [isFolded, setFolded] = useState(false);
  const index = Math.max(
    0,
    cards.findIndex((card) => card.interactionId === shownId),
  );
  const card = cards[index];
  const alike = useAlike(cards, card, canAnswer);
  const [isBulk, setBulk] = useState(false);
  const endBulk = useCallback(() => setBulk(false), []);
  const element = useRef<HTMLElement>(null);
  const focus = useFocusReturn(card?.interactionId, () => element.current?.querySelector(".sheet-fold") ?? null);
  if (card === undefined && settled === undefined) return null;
  return (
    <section className="sheet" ref={element} aria-label="Questions of the agent" {...focus}>
      {settled !== undefined && <SettledStrip key={settled.card.interactionId} settled={settled} />}
      {card !== undefined && (
        <>
          <SheetBar
            cards={isBulk ? [card] : cards}
            index={isBulk ? 0 : index}
            isFolded={isFolded}
            onShow={setShownId}
            onFold={() => setFolded(!isFolded)}
          />
          {!isFolded && isBulk && <AlikeCard items={alike} onClose={endBulk} />}
          {!isFolded && !isBulk && (
            <>
              {alike.length > 1 && (
                <button type="button" className="alike-open" onClick={() => setBulk(true)}>
                  <Icon name="checkAll" small /> Read {alike.length} alike, answer at once
                </button>
              )}
              <QuestionCard key={card.interactionId} card={card} canAnswer={canAnswer} />
            </>
          )}
        </>
      )}
    </section>
  );
}

/** What can be answered together with the card that is shown. */
function useAlike(
  cards: readonly InteractionCard[],
  card: InteractionCard | undefined,
  canAnswer: boolean,
): readonly AlikeItem[] {
  const { client } = useServices();
  if (!canAnswer || cards.length < 2) return [];
  const items = cards.flatMap((each) => {
    const question = readQuestion(each, knownCard(client, each));
    return question.kind === "permission" ? [{ card: each, question }] : [];
  });
  const alike = alikeItems(items, card?.interactionId);
  return alikeOffers(alike).length === 0 ? [] : alike;
}

interface SheetBarProps {
  readonly cards: readonly InteractionCard[];
  readonly index: number;
  readonly isFolded: boolean;
  readonly onShow: (interactionId: string) => void;
  readonly onFold: () => void;
}

function SheetBar({ cards, index, isFolded, onShow, onFold }: SheetBarProps): ReactElement {
  const show = (at: number): void => {
    const card = cards[at];
    if (card !== undefined) onShow(card.interactionId);
  };
  return (
    <div className="sheet-bar">
      <button type="button" className="sheet-fold" aria-expanded={!isFolded} onClick={onFold}>
        <Icon name="chevron" small />
        <strong>Needs you</strong>
      </button>
      {cards.length > 1 && (
        <div className="pager">
          <IconButton icon="arrowUp" label="Previous question" disabled={index === 0} onClick={() => show(index - 1)} />
          <span aria-live="polite">
            {index + 1} of {cards.length}
          </span>
          <IconButton
            icon="arrowDown"
            label="Next question"
            disabled={index === cards.length - 1}
            onClick={() => show(index + 1)}
          />
        </div>
      )}
    </div>
  );
}
