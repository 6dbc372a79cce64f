/** The windowed list of a session: at most a few dozen rows exist, whatever its length. */
import { type ReactElement, useEffect, useMemo, useRef, useState } from "react";
import { Virtualizer, type VirtualizerHandle } from "virtua";
import type { OutboxEntry, SessionClient, SessionView } from "../../client/index.ts";
import { useObservable, useServices } from "../app/hooks.ts";
import type { Draft } from "../composer/drafts.ts";
import { Icon } from "../ui/icon.tsx";
import { useFollow } from "./follow.ts";
import { MessageRow } from "./message-row.tsx";
import { NoteRow } from "./note-row.tsx";
import { PendingRow } from "./pending-row.tsx";
import { placeIn, remember, useReturn } from "./place.ts";
import { type Row, RowBuilder } from "./rows.ts";
import { useTailFirst } from "./tail-first.ts";
import { ToolCard, ToolGroup } from "./tool-card.tsx";
import "./transcript.css";

/** Room for the button above the first row; the list must know it. */
const HEAD_PX = 60;

/** Nearer than this to the top, the page before is loaded. */
const NEAR_TOP_PX = 300;

/** Fewer rows may not fill a screen: many events can be one folded row. */
const ROWS_MIN = 30;

export interface TranscriptProps {
  readonly session: SessionClient;
  readonly view: SessionView;
  readonly entries: readonly OutboxEntry[];
  readonly onEdit: (draft: Draft) => void;
}

export function Transcript({ session, view, entries, onEdit }: TranscriptProps): ReactElement {
  const { settings } = useServices();
  const { showThoughts } = useObservable(settings.settings);
  const waiting = useMemo(
    () => entries.filter((entry) => entry.delivery !== "done" && entry.delivery !== "started"),
    [entries],
  );
  const [builder] = useState(() => new RowBuilder());
  const all = useMemo(() => builder.build(view.transcript, waiting), [builder, view.transcript, waiting]);
  const scroller = useRef<HTMLDivElement>(null);
  const list = useRef<VirtualizerHandle>(null);
  const [place] = useState(() => placeIn(view.sessionId));
  const { rows, drawn } = useTailFirst(all, place === undefined);
  const follow = useFollow(scroller, list, rows, place === undefined);
  const isShifted = useIsPrepended(rows);
  useReturn(list, place, rows);
  const isShort = all.length < ROWS_MIN && view.hasEarlier && view.attach.kind === "live" && !view.isLoadingEarlier;
  useEffect(() => {
    if (isShort) void session.loadEarlier();
  }, [isShort, session]);
  const onScroll = (offset: number): void => {
    follow.onScroll(offset);
    remember(view.sessionId, { offset, headPx: HEAD_PX, rows }, list.current);
    if (offset < NEAR_TOP_PX && !follow.isFollowing) void session.loadEarlier();
  };
  return (
    <div className="transcript-frame">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the transcript is read by keyboard */}
      <div className="transcript" ref={scroller} role="log" aria-label="Transcript" aria-live="off" tabIndex={0}>
        <ListHead view={view} onLoad={() => void session.loadEarlier()} />
        {/* Not before there are rows: the first are drawn at once only by a list that begins with them. */}
        {rows.length > 0 && (
          <Virtualizer
            ref={list}
            scrollRef={scroller}
            startMargin={HEAD_PX}
            keepMounted={drawn}
            shift={isShifted}
            data={rows}
            onScroll={onScroll}
            onResize={follow.onResize}
          >
            {(row) => (
              <div className="row" key={row.key} data-row={row.key}>
                <RowView row={row} view={view} entries={entries} showThoughts={showThoughts} onEdit={onEdit} />
              </div>
            )}
          </Virtualizer>
        )}
      </div>
      {rows.length === 0 && !view.hasEarlier && view.attach.kind === "live" && (
        <div className="empty transcript-empty">
          <Icon name="inbox" />
          <p>Nothing was said yet.</p>
        </div>
      )}
      {!follow.isFollowing && (
        <button type="button" className="to-end" onClick={follow.toEnd}>
          <Icon name="arrowDown" small />
          {follow.newCount > 0 ? `${follow.newCount} new` : <span className="hidden-text">To the end</span>}
        </button>
      )}
    </div>
  );
}

interface RowViewProps {
  readonly row: Row;
  readonly view: SessionView;
  readonly entries: readonly OutboxEntry[];
  readonly showThoughts: boolean;
  readonly onEdit: (draft: Draft) => void;
}

function RowView({ row, view, entries, showThoughts, onEdit }: RowViewProps): ReactElement {
  switch (row.kind) {
    case "tool":
      return <ToolCard item={row.item} settled={view.transcript.settled[row.item.toolCallId] ?? NO_NOTICES} />;
    case "tools":
      return <ToolGroup rowKey={row.key} items={row.items} />;
    case "pending":
      return <PendingRow entry={row.entry} onEdit={onEdit} />;
    case "item": {
      const { item } = row;
      if (!("blocks" in item)) return <NoteRow item={item} />;
      const entry = item.promptId === undefined ? undefined : entries.find((other) => other.promptId === item.promptId);
      return <MessageRow item={item} entry={entry} showThoughts={showThoughts} />;
    }
  }
}

const NO_NOTICES = [] as const;

function ListHead({ view, onLoad }: { readonly view: SessionView; readonly onLoad: () => void }): ReactElement {
  return (
    <div className="list-head">
      {view.hasEarlier && (
        <button
          type="button"
          className="button small"
          disabled={view.isLoadingEarlier || view.attach.kind !== "live"}
          onClick={onLoad}
        >
          {view.isLoadingEarlier ? <span className="spinner" /> : <Icon name="arrowUp" small />} Load earlier
        </button>
      )}
    </div>
  );
}

/** True in the one render in which rows came in front: then the list keeps its distance from the end. */
function useIsPrepended(rows: readonly Row[]): boolean {
  const before = useRef<readonly Row[]>(rows);
  const firstKey = before.current[0]?.key;
  const isPrepended = firstKey !== undefined && rows[0]?.key !== firstKey && rows.some((row) => row.key === firstKey);
  useEffect(() => {
    before.current = rows;
  }, [rows]);
  return isPrepended;
}
