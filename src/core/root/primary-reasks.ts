/**
 * Open interactions for an editor that has just loaded or resumed a live session (X6): at once to one that declared
 * `_meta["acp-hub"]`, a little later to the others, so that the history renders first. What it had open is taken back before:
 * editors drop their dialogs when a load starts, and one that did not know the session had no dialog to begin with.
 */
import { ACP } from "../../protocol/acp.ts";
import type { InteractionId, SessionId } from "../../protocol/ids.ts";
import { type JsonObject, objectAt, stringAt } from "../../protocol/json.ts";
import { precedingCard } from "../interaction/permission-view.ts";
import { isToolKind } from "../journal/tool-card.ts";
import type { Ask } from "./ask.ts";
import type { RootContext } from "./context.ts";
import type { RootSession } from "./session.ts";

/** As long as the hub waits for its plain clients. */
const ASK_AFTER_LOAD_MS = 300;
const TIMER = "reask:";

export interface PrimaryReasksPorts {
  openIn(session: RootSession): Ask[];
  /** Asks the editor anew, under a new id. */
  again(ask: Ask): void;
}

/** What was open at the load: later ones are asked as they come. */
interface Due {
  readonly session: RootSession;
  readonly ids: ReadonlySet<InteractionId>;
  readonly hasHistory: boolean;
}

export class PrimaryReasks {
  readonly #context: RootContext;
  readonly #ports: PrimaryReasksPorts;
  readonly #due = new Map<SessionId, Due>();

  constructor(context: RootContext, ports: PrimaryReasksPorts) {
    this.#context = context;
    this.#ports = ports;
  }

  /** The response of its load (`hasHistory`) or resume has been sent. */
  after(session: RootSession, hasHistory: boolean): void {
    const ids = new Set(this.#ports.openIn(session).map((ask) => ask.interactionId));
    const due = { session, ids, hasHistory };
    if (ids.size === 0) return;
    if (this.#context.livePrimary?.abilities.isExtended === true) return this.#ask(due);
    this.#due.set(session.id, due);
    this.#context.ports.startTimer(`${TIMER}${session.id}`, ASK_AFTER_LOAD_MS);
  }

  onTimer(name: string): void {
    for (const [id, due] of this.#due) {
      if (name !== `${TIMER}${id}`) continue;
      this.#due.delete(id);
      this.#ask(due);
    }
  }

  #ask({ session, ids, hasHistory }: Due): void {
    if (this.#context.livePrimary === undefined || !session.hasPrimary) return;
    for (const ask of this.#ports.openIn(session)) {
      if (!ids.has(ask.interactionId)) continue;
      const card = cardOf(session, ask, hasHistory);
      if (card !== undefined) this.#context.ports.toPrimary(card);
      this.#ports.again(ask);
    }
  }
}

/** The card its dialog hangs on, where the replay just given lacks it. */
function cardOf(session: RootSession, ask: Ask, hasHistory: boolean): string | undefined {
  const toolCallId = stringAt(objectAt(ask.params, "toolCall"), "toolCallId");
  if (ask.method !== ACP.requestPermission || toolCallId === undefined) return undefined;
  const known = knownCard(session, toolCallId);
  return hasHistory && known !== undefined ? undefined : precedingCard(ask.params, known);
}

function knownCard({ journal }: RootSession, toolCallId: string): JsonObject | undefined {
  for (const item of journal.replay()) {
    const update = objectAt(item.params, "update");
    if (isToolKind(update?.["sessionUpdate"]) && update?.["toolCallId"] === toolCallId) return update;
  }
  return undefined;
}
