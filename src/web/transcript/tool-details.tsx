/** Everything about a tool call: diffs, output, locations, what went in and came out. */
import { lazy, type ReactElement, Suspense } from "react";
import { arrayAt, isObject, type Json, type JsonObject, objectAt, stringAt } from "../../protocol/json.ts";
import { commandOf, locationText, readDiff } from "../approval/question.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { VisibleText } from "../ui/visible-text.tsx";
import { ContentBlocks } from "./content-blocks.tsx";
import { DiffFiles } from "./diff-files.tsx";
import { outputText } from "./output-text.ts";
import { contents, exitCode } from "./tool-summary.ts";

const DiffView = lazy(async () => ({ default: (await import("./diff-view.tsx")).DiffView }));
const TerminalView = lazy(async () => ({ default: (await import("./terminal-view.tsx")).TerminalView }));

/** Raw values longer than this are shown cut, and copied whole. */
const RAW_CHARS_MAX = 20_000;

export function ToolDetails({ card }: { readonly card: JsonObject }): ReactElement {
  const command = commandOf(objectAt(card, "rawInput"));
  const terminal = objectAt(objectAt(card, "_meta"), "terminal_output");
  const output = stringAt(terminal, "data");
  const exit = exitCode(card);
  const parts = contents(card);
  return (
    <div className="tool-details">
      {command !== undefined && (
        <pre className="plain-block command">
          <VisibleText text={command} marksOperators />
        </pre>
      )}
      <DiffFiles diffs={parts.filter((part) => part["type"] === "diff").map(readDiff)} />
      <Suspense fallback={<p className="muted">Loading…</p>}>
        {parts.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: content of one card is replaced whole
          <ContentPart key={index} part={part} card={card} />
        ))}
        {output !== undefined && <TerminalView text={output} isCut={terminal?.["isCut"] === true} />}
      </Suspense>
      {exit !== undefined && <p className="muted">Exit code {exit}</p>}
      <Locations card={card} />
      <Raw name="Input" value={card["rawInput"]} />
      <Raw name="Output" value={card["rawOutput"]} />
    </div>
  );
}

function ContentPart({ part, card }: { readonly part: JsonObject; readonly card: JsonObject }): ReactElement | null {
  if (part["type"] === "diff") return <DiffView diff={readDiff(part)} mayUnwrap />;
  const content = objectAt(part, "content");
  if (part["type"] !== "content" || content === undefined) return null;
  const output = outputOf(stringAt(content, "text"), card);
  return output === undefined ? <ContentBlocks blocks={[content]} /> : <TerminalView text={output} />;
}

function outputOf(text: string | undefined, card: JsonObject): string | undefined {
  // Some agents put what a command is for where its output will stand.
  const isPurpose = text === stringAt(objectAt(card, "rawInput"), "description");
  return text === undefined || isPurpose ? undefined : outputText(text, stringAt(card, "kind"));
}

function Locations({ card }: { readonly card: JsonObject }): ReactElement | null {
  const locations = (arrayAt(card, "locations") ?? []).filter(isObject).map(locationText);
  if (locations.length === 0) return null;
  return (
    <ul className="plain locations mono">
      {locations.map((location) => (
        <li key={location}>{location}</li>
      ))}
    </ul>
  );
}

export interface RawProps {
  readonly name: string;
  readonly value: Json | undefined;
  /** Unfolded from the start, and nothing of it cut. */
  readonly isWhole?: boolean;
}

export function Raw({ name, value, isWhole = false }: RawProps): ReactElement | null {
  if (value === undefined || value === null) return null;
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  if (text === "{}" || text === "") return null;
  return (
    <details className="raw" open={isWhole}>
      <summary>{name}</summary>
      <div className="raw-head">
        <CopyButton text={text} label={`Copy ${name.toLowerCase()}`} />
      </div>
      <pre className="plain-block">
        <VisibleText text={isWhole ? text : text.slice(0, RAW_CHARS_MAX)} />
        {!isWhole && text.length > RAW_CHARS_MAX && `\n… ${text.length - RAW_CHARS_MAX} more characters`}
      </pre>
    </details>
  );
}
