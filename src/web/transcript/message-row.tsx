/** One message: of a person, of the agent, or a thought. */
import { memo, type ReactElement } from "react";
import { type MessageItem, type OutboxEntry, textOf } from "../../client/index.ts";
import { useHubToday } from "../app/hooks.ts";
import { plainLine } from "../approval/question.ts";
import { Markdown } from "../markdown/markdown.tsx";
import { Icon } from "../ui/icon.tsx";
import { atTime } from "../ui/time.ts";
import { ContentBlocks } from "./content-blocks.tsx";
import { DeliveryMark } from "./delivery-mark.tsx";
import { useOpen } from "./open-state.tsx";
import { TypedMessage } from "./typed-message.tsx";

export interface MessageRowProps {
  readonly item: MessageItem;
  /** The prompt of this device behind a user message, for its marks. */
  readonly entry: OutboxEntry | undefined;
  readonly showThoughts: boolean;
}

export const MessageRow = memo(({ item, entry, showThoughts }: MessageRowProps): ReactElement => {
  if (item.kind === "thought") return <Thought item={item} isShown={showThoughts} />;
  if (item.kind === "user") return <UserMessage item={item} entry={entry} />;
  return (
    <article className="message agent" aria-label="Agent">
      <ContentBlocks blocks={item.blocks} />
    </article>
  );
});

function UserMessage({
  item,
  entry,
}: {
  readonly item: MessageItem;
  readonly entry: OutboxEntry | undefined;
}): ReactElement {
  const today = useHubToday();
  const author = item.isLocal || entry !== undefined ? "You" : (item.by?.name ?? "You");
  return (
    <article className="message user" aria-label={`Message of ${author}`}>
      <div className="bubble">
        <TypedMessage blocks={item.blocks} />
      </div>
      <footer>
        <span className="author">{author}</span>
        {item.ts > 0 && <time dateTime={new Date(item.ts).toISOString()}>{atTime(item.ts, today)}</time>}
        {entry !== undefined && <DeliveryMark entry={entry} />}
      </footer>
    </article>
  );
}

function Thought({ item, isShown }: { readonly item: MessageItem; readonly isShown: boolean }): ReactElement {
  const [isToggled, toggle] = useOpen(item.key);
  const isOpen = isToggled !== isShown;
  const text = textOf(item.blocks);
  return (
    <article className="thought" aria-label="Thought">
      <button type="button" className="fold" aria-expanded={isOpen} onClick={toggle}>
        <Icon name="bulb" small />
        <span className="truncate">{isOpen ? "Thought" : firstLine(text)}</span>
        <Icon name="chevron" small />
      </button>
      {isOpen && <Markdown text={text} />}
    </article>
  );
}

function firstLine(text: string): string {
  const line = plainLine(text);
  return line === "" ? "Thinking" : line;
}
