/** A live session's history as it is read backwards: its journal, and the epochs on disk that go on in it (S1). */
import { type HistoryItem, type HistoryPage, inEpoch, pageBefore, type StartOf } from "../journal/history-page.ts";
import type { JournalItem } from "../journal/item.ts";
import type { MirrorContext } from "./context.ts";
import type { MirrorSession } from "./session.ts";

/** It began without a replay, and what was before is kept. */
export function hasOlder<E>({ ports }: MirrorContext<E>, { info }: MirrorSession<E>): boolean {
  return info.continues === true && ports.record?.hasOlder(info) === true;
}

export function olderItems<E>(context: MirrorContext<E>, session: MirrorSession<E>): readonly HistoryItem[] {
  return hasOlder(context, session) ? (context.ports.record?.older(session.info) ?? []) : [];
}

/** The page before `before`, of items that are `isIn`. The disk is read where the journal does not fill it. */
export function livePage<E>(
  context: MirrorContext<E>,
  session: MirrorSession<E>,
  before: number,
  startOf: StartOf,
  isIn: (item: JournalItem) => boolean = () => true,
): HistoryPage {
  const position = { epoch: session.epoch, before };
  const own = inEpoch(session.epoch, session.journal.replay().filter(isIn));
  const page = pageBefore(own, position, startOf);
  if (page.hasMore || !hasOlder(context, session)) return page;
  const older = olderItems(context, session).filter(({ item }) => isIn(item));
  return pageBefore([...older, ...own], position, startOf);
}
