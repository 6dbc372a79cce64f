/** A permission: the whole of what will happen, and the agent's own options in its order. */
import { type ReactElement, useRef } from "react";
import { type InteractionCard, selectOption } from "../../client/index.ts";
import type { Json } from "../../protocol/json.ts";
import { Icon } from "../ui/icon.tsx";
import type { IconName } from "../ui/icon-paths.ts";
import { VisibleText } from "../ui/visible-text.tsx";
import type { Permission } from "./alike.ts";
import { useEndSeen } from "./end-seen.ts";
import { PermissionBody, ReadingHint } from "./permission-body.tsx";
import type { PermissionChoice } from "./question.ts";
import { useSecondTap } from "./second-tap.ts";
import type { TapGuard } from "./tap-guard.ts";

export interface PermissionCardProps {
  readonly card: InteractionCard;
  readonly question: Permission;
  readonly guard: TapGuard;
  readonly isBusy: boolean;
  readonly onAnswer: (result: Json) => void;
}

export function PermissionCard({ card, question, guard, isBusy, onAnswer }: PermissionCardProps): ReactElement {
  const body = useRef<HTMLElement>(null);
  const reading = useEndSeen(body, card.interactionId);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what is decided about is read by keyboard too */}
      <section className="question-body" ref={body} tabIndex={0} aria-label="What will happen">
        <PermissionBody question={question} />
      </section>
      <ReadingHint reading={reading} />
      <div className="options">
        {question.choices.map((choice) => (
          <Choice
            key={choice.optionId}
            choice={choice}
            guard={guard}
            isDisabled={isBusy || (isAllowing(choice) && reading !== "seen")}
            onChoose={() => onAnswer(selectOption(choice.optionId))}
          />
        ))}
      </div>
    </>
  );
}

interface ChoiceProps {
  readonly choice: PermissionChoice;
  readonly guard: TapGuard;
  readonly isDisabled: boolean;
  readonly onChoose: () => void;
}

const ICONS = new Map<string, IconName>([
  ["allow_once", "check"],
  ["allow_always", "shieldAll"],
  ["reject_once", "close"],
  ["reject_always", "lock"],
]);

/** What holds for ever wants two taps. */
function Choice({ choice, guard, isDisabled, onChoose }: ChoiceProps): ReactElement {
  const isLasting = choice.kind.endsWith("_always");
  const { isArmed, tap } = useSecondTap(isLasting);
  const tone = isAllowing(choice) ? (isLasting ? "lasting" : "primary") : "danger";
  return (
    <button
      type="button"
      className={`button option ${tone}`}
      data-kind={choice.kind}
      disabled={isDisabled}
      aria-disabled={!guard.isOpen}
      onClick={(event) => {
        if (guard.allows(event) && tap()) onChoose();
      }}
    >
      <Icon name={ICONS.get(choice.kind) ?? "chevron"} />
      <span>
        {isArmed && "Tap again: "}
        <VisibleText text={choice.name} />
      </span>
    </button>
  );
}

const isAllowing = (choice: PermissionChoice): boolean => choice.kind.startsWith("allow");
