/** Pairs this browser with the hub: by the link's code, or one typed in. */
import { type FormEvent, type ReactElement, useState } from "react";
import { useServices } from "../app/hooks.ts";
import { guessDeviceName } from "../platform/device-name.ts";
import { Icon } from "../ui/icon.tsx";
import { Notice } from "../ui/notice.tsx";
import { pairErrorText } from "./pair-errors.ts";
import "./pair.css";

export interface PairScreenProps {
  /** The code of the link, when one was opened. */
  readonly code: string | undefined;
  readonly wasRevoked: boolean;
}

export function PairScreen({ code: linkCode, wasRevoked }: PairScreenProps): ReactElement {
  const { access, router } = useServices();
  const [typed, setCode] = useState("");
  const code = linkCode ?? typed;
  const [name, setName] = useState(() => guessDeviceName());
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const pair = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await access.pair(code.trim(), name.trim() === "" ? guessDeviceName() : name.trim());
      router.replace({ screen: "home" });
    } catch (reason) {
      setBusy(false);
      setError(pairErrorText(reason));
      // A link's code is spent by its first try: what is typed next must be another.
      if (linkCode !== undefined) router.replace({ screen: "pair", code: undefined });
    }
  };
  return (
    <main className="pair">
      <img src="./icons/icon.svg" alt="" width="72" height="72" />
      <h1>Pair this device</h1>
      {wasRevoked && (
        <Notice tone="warn">This device is no longer paired. Someone removed it, or its access ended.</Notice>
      )}
      <form className="pair-form" onSubmit={(event) => void pair(event)}>
        {linkCode === undefined ? (
          <CodeField code={code} onCode={setCode} />
        ) : (
          <Notice>The link you opened carries a one-time code.</Notice>
        )}
        <div className="field">
          <label htmlFor="name">Name of this device</label>
          <input
            id="name"
            className="input"
            value={name}
            maxLength={60}
            onChange={(event) => setName(event.target.value)}
          />
        </div>
        {error !== undefined && <Notice tone="danger">{error}</Notice>}
        {!window.isSecureContext && (
          <Notice tone="warn">
            This connection is not encrypted: others in the network can read along. Push notifications need HTTPS.
          </Notice>
        )}
        <button type="submit" className="button primary wide" disabled={isBusy || code.trim() === ""}>
          {isBusy ? <span className="spinner" /> : <Icon name="link" />} Pair
        </button>
      </form>
    </main>
  );
}

function CodeField({ code, onCode }: { readonly code: string; readonly onCode: (code: string) => void }): ReactElement {
  return (
    <div className="field">
      <label htmlFor="code">Pairing code</label>
      <input
        id="code"
        className="input code-input"
        value={code}
        autoComplete="one-time-code"
        autoCapitalize="characters"
        spellCheck={false}
        required
        placeholder="XXXX-XXXX"
        aria-describedby="code-about"
        onChange={(event) => onCode(event.target.value)}
      />
      <p id="code-about" className="hint muted">
        Run <code className="mono">acp-hub pair</code> on the computer, or use “Pair another device” on a device that is
        paired.
      </p>
    </div>
  );
}
