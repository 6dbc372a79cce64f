/** One open question of an agent with its answer's way: sending, accepted, applied or lost. */
import { type ReactElement, useRef } from "react";
import type { InteractionCard } from "../../client/index.ts";
import type { Json } from "../../protocol/json.ts";
import { useHubNow, useServices } from "../app/hooks.ts";
import { Icon } from "../ui/icon.tsx";
import type { IconName } from "../ui/icon-paths.ts";
import { ago } from "../ui/time.ts";
import { VisibleText } from "../ui/visible-text.tsx";
import { FormCard } from "./form-card.tsx";
import { knownCard } from "./known-card.ts";
import { PermissionCard } from "./permission-card.tsx";
import { type Question, readQuestion } from "./question.ts";
import { useMoveGuard, useTapGuard } from "./tap-guard.ts";
import { UrlCard } from "./url-card.tsx";
import "./approval.css";

export interface QuestionCardProps {
  readonly card: InteractionCard;
  /** False for a device that may only watch. */
  readonly canAnswer: boolean;
}

export function QuestionCard({ card, canAnswer }: QuestionCardProps): ReactElement {
  const { client } = useServices();
  const question = readQuestion(card, knownCard(client, card));
  const element = useRef<HTMLElement>(null);
  const guard = useTapGuard(`${card.interactionId}/${card.step?.index ?? 0}`);
  useMoveGuard(element, guard.restart);
  const isBusy = card.answer !== undefined || !canAnswer;
  const answer = (result: Json): void => void client.answer(card.interactionId, result);
  return (
    <section
      className="question"
      ref={element}
      // It takes no focus: whoever writes goes on writing.
      role="alertdialog"
      data-interaction={card.interactionId}
      aria-labelledby={`q-${card.interactionId}`}
    >
      <QuestionHead card={card} question={question} />
      {question.kind === "permission" && (
        <PermissionCard card={card} question={question} guard={guard} isBusy={isBusy} onAnswer={answer} />
      )}
      {question.kind === "form" && <FormCard {...question} guard={guard} isBusy={isBusy} onAnswer={answer} />}
      {question.kind === "url" && <UrlCard {...question} guard={guard} isBusy={isBusy} onAnswer={answer} />}
      <AnswerState card={card} canAnswer={canAnswer} />
    </section>
  );
}

const ICONS: Readonly<Record<Question["kind"], IconName>> = { permission: "shield", form: "question", url: "globe" };

function QuestionHead({
  card,
  question,
}: {
  readonly card: InteractionCard;
  readonly question: Question;
}): ReactElement {
  const now = useHubNow(30_000);
  const title =
    question.kind === "permission"
      ? question.title
      : question.kind === "form"
        ? "The agent asks"
        : "The agent wants a page opened";
  return (
    <header className="question-head">
      <Icon name={ICONS[question.kind]} />
      <h2 id={`q-${card.interactionId}`}>
        <VisibleText text={title} />
      </h2>
      {card.step !== undefined && (
        <span className="chip">
          {card.step.index + 1} of {card.step.of}
        </span>
      )}
      <span className="muted">{ago(card.openedAt, now)}</span>
    </header>
  );
}

function AnswerState({ card, canAnswer }: QuestionCardProps): ReactElement | null {
  if (card.answer !== undefined) {
    const words = card.answer.state === "sending" ? "Sending your answer…" : "The hub has your answer…";
    return (
      <p className="answer-state" role="status">
        <span className="spinner" /> {words}
      </p>
    );
  }
  if (card.rejected !== undefined) {
    return (
      <p className="form-error" role="alert">
        <Icon name="alert" small /> {card.rejected}
      </p>
    );
  }
  return canAnswer ? null : <p className="muted">This device may watch, not answer.</p>;
}
