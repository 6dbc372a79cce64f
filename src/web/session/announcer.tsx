/** Tells a screen reader what matters: ends of turns and questions, never single tokens. */
import { type ReactElement, useEffect, useRef, useState } from "react";
import { type SessionView, shownCards } from "../../client/index.ts";
import { useObservable, useServices } from "../app/hooks.ts";
import { questionTitle } from "../approval/question.ts";

export function Announcer({ view }: { readonly view: SessionView }): ReactElement {
  const { client } = useServices();
  const [words, setWords] = useState("");
  const turn = view.transcript.turn?.state ?? "idle";
  const before = useRef(turn);
  useEffect(() => {
    if (before.current !== "idle" && turn === "idle") setWords("The agent has finished.");
    before.current = turn;
  }, [turn]);
  const latest = shownCards(useObservable(client.interactions), view.sessionId).at(-1);
  const question = latest === undefined ? undefined : questionTitle(latest);
  useEffect(() => {
    if (question !== undefined) setWords(`The agent needs you: ${question}`);
  }, [question]);
  return (
    <div className="hidden-text" role="status" aria-live="polite">
      {words}
    </div>
  );
}
