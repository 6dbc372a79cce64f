/** A link of an agent is opened only after its whole target was shown. */
import { createContext, type ReactElement, type ReactNode, use, useState } from "react";
import { copyText } from "../ui/copy-button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Notice } from "../ui/notice.tsx";
import { hasHidden } from "../ui/visible-runs.ts";
import { VisibleText } from "../ui/visible-text.tsx";

const OpenLinkContext = createContext<(target: string) => void>(() => undefined);

/** Asks the person about a link. */
export const useOpenLink = (): ((target: string) => void) => use(OpenLinkContext);

export function LinkDialogProvider({ children }: { readonly children: ReactNode }): ReactElement {
  const [target, setTarget] = useState<string>();
  return (
    <OpenLinkContext value={setTarget}>
      {children}
      {target !== undefined && <LinkDialog target={target} onClose={() => setTarget(undefined)} />}
    </OpenLinkContext>
  );
}

function LinkDialog({ target, onClose }: { readonly target: string; readonly onClose: () => void }): ReactElement {
  const url = webAddress(target);
  return (
    <Dialog title="Open this link?" onClose={onClose}>
      {url !== undefined && <p className="link-host">{url.host}</p>}
      <p className="link-target mono">
        <VisibleText text={target} />
      </p>
      {url === undefined && <Notice>This is not a web address. It can only be copied.</Notice>}
      {(hasHidden(target) || url?.host.includes("xn--")) && (
        <Notice tone="warn">The address holds characters that can look like others. Read it twice.</Notice>
      )}
      <div className="row-actions">
        {url !== undefined && (
          <a className="button primary" href={url.href} target="_blank" rel="noopener noreferrer" onClick={onClose}>
            Open {url.host}
          </a>
        )}
        <button
          type="button"
          className="button"
          onClick={() => void copyText(target).then((isCopied) => isCopied && onClose())}
        >
          Copy
        </button>
      </div>
    </Dialog>
  );
}

/** Only http and https are ever opened: a link must not start a program or run a script. */
export function webAddress(target: string): URL | undefined {
  try {
    const url = new URL(target);
    return url.protocol === "https:" || url.protocol === "http:" ? url : undefined;
  } catch {
    return undefined;
  }
}
