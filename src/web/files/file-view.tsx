/** One file: an image, or text in windows, so that a log of a gigabyte costs what is read of it. */
import { type ReactElement, useEffect, useState } from "react";
import { isObject, type Json, stringAt } from "../../protocol/json.ts";
import { useObservable, useServices } from "../app/hooks.ts";
import { WrapButton } from "../transcript/wrap-button.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { Icon } from "../ui/icon.tsx";
import { Notice } from "../ui/notice.tsx";
import type { FilesScreenProps } from "./files-screen.tsx";

const LINES = 400;

const IMAGES = /\.(?:png|jpe?g|gif|webp|avif)$/i;

export function FileView(props: FilesScreenProps): ReactElement {
  return IMAGES.test(props.path) ? <ImageFile {...props} /> : <TextFile key={props.path} {...props} />;
}

function ImageFile({ sessionId, instanceId, path }: FilesScreenProps): ReactElement {
  const { api } = useServices();
  const [url, setUrl] = useState<string>();
  const [error, setError] = useState<string>();
  useEffect(() => {
    let made: string | undefined;
    let isCurrent = true;
    api
      .readFile(instanceId, sessionId, path)
      .then((response) => response.blob())
      .then(
        (blob) => {
          if (!isCurrent) return;
          made = URL.createObjectURL(blob);
          setUrl(made);
        },
        (reason: unknown) => setError(reason instanceof Error ? reason.message : "The image could not be read"),
      );
    return () => {
      isCurrent = false;
      if (made !== undefined) URL.revokeObjectURL(made);
    };
  }, [api, instanceId, sessionId, path]);
  if (error !== undefined) return <Notice tone="danger">{error}</Notice>;
  return url === undefined ? <p className="muted">Loading…</p> : <img className="image-block" src={url} alt={path} />;
}

function TextFile({ sessionId, instanceId, path }: FilesScreenProps): ReactElement {
  const { api, settings } = useServices();
  const [lines, setLines] = useState<readonly string[]>([]);
  const [hasMore, setMore] = useState(false);
  const [error, setError] = useState<string>();
  const [from, setFrom] = useState(1);
  useEffect(() => {
    let isCurrent = true;
    api
      .readFile(instanceId, sessionId, path, { line: from, limit: LINES })
      .then(readWindow)
      .then(
        (window) => {
          if (!isCurrent) return;
          setLines((before) => [...before.slice(0, from - 1), ...window]);
          setMore(window.length >= LINES);
        },
        (reason: unknown) => setError(reason instanceof Error ? reason.message : "The file could not be read"),
      );
    return () => {
      isCurrent = false;
    };
  }, [api, instanceId, sessionId, path, from]);
  const { wrapLines } = useObservable(settings.settings);
  if (error !== undefined) return <Notice tone="danger">{error}</Notice>;
  const text = lines.join("\n");
  return (
    <>
      <div className="file-bar">
        <span className="muted">{hasMore ? `The first ${lines.length} lines` : `${lines.length} lines`}</span>
        <WrapButton />
        <CopyButton text={text} label="Copy what is shown" />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled by keyboard */}
      <pre className={wrapLines ? "file-text wrap" : "file-text"} tabIndex={0}>
        {text}
      </pre>
      {hasMore && (
        <button type="button" className="button" onClick={() => setFrom(lines.length + 1)}>
          <Icon name="arrowDown" small /> Next {LINES} lines
        </button>
      )}
    </>
  );
}

/** A window comes as text, or as JSON around it. */
async function readWindow(response: Response): Promise<readonly string[]> {
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
  const body = isJson ? contentOf(JSON.parse(text) as Json) : text;
  const lines = body.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

const contentOf = (value: Json): string =>
  isObject(value) ? (stringAt(value, "content") ?? stringAt(value, "text") ?? "") : "";
