/** A permission: the whole of what will happen, and the agent's own options in its order. */
import { lazy, type ReactElement, Suspense, useEffect, useRef, useState } from "react";
import { type InteractionCard, selectOption } from "../../client/index.ts";
import type { Json } from "../../protocol/json.ts";
import { Markdown } from "../markdown/markdown.tsx";
import { Raw } from "../transcript/tool-details.tsx";
import { Icon } from "../ui/icon.tsx";
import type { IconName } from "../ui/icon-paths.ts";
import { hasHidden } from "../ui/visible-runs.ts";
import { VisibleText } from "../ui/visible-text.tsx";
import type { PermissionChoice, Question } from "./question.ts";
import type { TapGuard } from "./tap-guard.ts";

const DiffView = lazy(async () => ({ default: (await import("../transcript/diff-view.tsx")).DiffView }));

type Permission = Extract<Question, { kind: "permission" }>;

export interface PermissionCardProps {
  readonly card: InteractionCard;
  readonly question: Permission;
  readonly guard: TapGuard;
  readonly isBusy: boolean;
  readonly onAnswer: (result: Json) => void;
}

export function PermissionCard({ card, question, guard, isBusy, onAnswer }: PermissionCardProps): ReactElement {
  const body = useRef<HTMLElement>(null);
  const isSeen = useEndSeen(body, card.interactionId);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what is decided about is read by keyboard too */}
      <section className="question-body" ref={body} tabIndex={0} aria-label="What will happen">
        <PermissionBody question={question} />
      </section>
      {!isSeen && <p className="question-hint">Scroll to the end to allow.</p>}
      <div className="options">
        {question.choices.map((choice) => (
          <Choice
            key={choice.optionId}
            choice={choice}
            guard={guard}
            isDisabled={isBusy || (isAllowing(choice) && !isSeen)}
            onChoose={() => onAnswer(selectOption(choice.optionId))}
          />
        ))}
      </div>
    </>
  );
}

function PermissionBody({ question }: { readonly question: Permission }): ReactElement {
  const { command, cwd, description, diffs, locations, texts, rawInput } = question;
  const isHiding = [command ?? "", ...diffs.map((diff) => diff.newText)].some(hasHidden);
  return (
    <>
      {description !== undefined && <p className="muted">{description}</p>}
      {command !== undefined && (
        <pre className="plain-block command">
          <VisibleText text={command} marksOperators />
        </pre>
      )}
      {cwd !== undefined && (
        <p className="muted mono">
          in <VisibleText text={cwd} />
        </p>
      )}
      {isHiding && (
        <p className="notice warn">
          <Icon name="alert" /> This holds invisible characters. They are shown by name.
        </p>
      )}
      <Suspense
        fallback={
          <p className="muted" data-loading>
            Loading…
          </p>
        }
      >
        {diffs.map((diff) => (
          <DiffView key={diff.path} diff={diff} />
        ))}
      </Suspense>
      {texts.map((text) => (
        <Markdown key={text} text={text} />
      ))}
      {command === undefined && diffs.length === 0 && locations.length > 0 && (
        <ul className="plain locations mono">
          {locations.map((location) => (
            <li key={location}>
              <VisibleText text={location} />
            </li>
          ))}
        </ul>
      )}
      <Raw name="Everything the agent sent" value={rawInput} />
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

/** How long the second tap of an "always" is waited for. */
const ARMED_MS = 4000;

/** What holds for ever wants two taps: the first one arms. */
function Choice({ choice, guard, isDisabled, onChoose }: ChoiceProps): ReactElement {
  const [isArmed, setArmed] = useState(false);
  useEffect(() => {
    if (!isArmed) return;
    const timer = setTimeout(() => setArmed(false), ARMED_MS);
    return () => clearTimeout(timer);
  }, [isArmed]);
  const isLasting = choice.kind.endsWith("_always");
  const tone = isAllowing(choice) ? (isLasting ? "lasting" : "primary") : "danger";
  return (
    <button
      type="button"
      className={`button option ${tone}`}
      data-kind={choice.kind}
      disabled={isDisabled}
      aria-disabled={!guard.isOpen}
      onClick={(event) => {
        if (!guard.allows(event)) return;
        if (isLasting && !isArmed) setArmed(true);
        else onChoose();
      }}
    >
      <Icon name={ICONS.get(choice.kind) ?? "chevron"} />
      <span>{isArmed ? `Tap again: ${choice.name}` : choice.name}</span>
    </button>
  );
}

const isAllowing = (choice: PermissionChoice): boolean => choice.kind.startsWith("allow");

/** True once the end of the text was on screen: nobody allows what they could not have read. */
function useEndSeen(body: React.RefObject<HTMLElement | null>, subject: string): boolean {
  const [seen, setSeen] = useState<string>();
  useEffect(() => {
    const element = body.current;
    if (element === null) return;
    const look = (): void => {
      // A diff that is still on its way has no end yet.
      if (element.querySelector("[data-loading]") !== null) return;
      if (element.scrollTop + element.clientHeight >= element.scrollHeight - 24) setSeen(subject);
    };
    const sizes = new ResizeObserver(look);
    const parts = new MutationObserver(look);
    sizes.observe(element);
    parts.observe(element, { childList: true, subtree: true });
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      sizes.disconnect();
      parts.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, [body, subject]);
  return seen === subject;
}
