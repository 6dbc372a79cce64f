/** A page the agent wants opened: the host in plain sight, opened only on purpose. */
import type { ReactElement } from "react";
import { acceptUrl } from "../../client/index.ts";
import type { Json } from "../../protocol/json.ts";
import { webAddress } from "../markdown/link-dialog.tsx";
import { Markdown } from "../markdown/markdown.tsx";
import { Notice } from "../ui/notice.tsx";
import { VisibleText } from "../ui/visible-text.tsx";
import { RefusalButtons } from "./refusal-buttons.tsx";
import type { TapGuard } from "./tap-guard.ts";

export interface UrlCardProps {
  readonly message: string;
  readonly url: string;
  readonly guard: TapGuard;
  readonly isBusy: boolean;
  readonly onAnswer: (result: Json) => void;
}

export function UrlCard({ message, url, guard, isBusy, onAnswer }: UrlCardProps): ReactElement {
  const address = webAddress(url);
  return (
    <>
      <div className="question-body">
        <Markdown text={message} />
        {address !== undefined && <p className="link-host">{address.host}</p>}
        <p className="link-target mono">
          <VisibleText text={url} />
        </p>
        {address === undefined && (
          <Notice tone="danger">This is not a web address. It cannot be opened from here.</Notice>
        )}
        {address?.protocol === "http:" && <Notice tone="warn">The connection to this page is not encrypted.</Notice>}
      </div>
      <div className="options inline">
        {address !== undefined && (
          <a
            className="button primary option"
            href={address.href}
            target="_blank"
            rel="noopener noreferrer"
            aria-disabled={!guard.isOpen}
            onClick={(event) => {
              if (guard.allows(event) && !isBusy) onAnswer(acceptUrl());
              else event.preventDefault();
            }}
          >
            Open {address.host}
          </a>
        )}
        <RefusalButtons guard={guard} isBusy={isBusy} onAnswer={onAnswer} />
      </div>
    </>
  );
}
