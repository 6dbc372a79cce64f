/** A one-time link for the next device: QR, text code, and how long they live. */
import { lazy, type ReactElement, Suspense, useState } from "react";
import type { Pairing } from "../../client/index.ts";
import { PRESETS, type Preset, type Scope } from "../../protocol/scopes.ts";
import { useHubNow, useServices } from "../app/hooks.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Notice } from "../ui/notice.tsx";
import { countdown } from "../ui/time.ts";

const QrCode = lazy(async () => ({ default: (await import("./qr-code.tsx")).QrCode }));

const PRESET_WORDS: Readonly<Record<Preset, { readonly title: string; readonly about: string }>> = {
  viewer: { title: "Watch", about: "Reads sessions, answers nothing." },
  approver: { title: "Watch and approve", about: "Also answers the agent's questions." },
  driver: { title: "Drive", about: "Also sends messages, changes modes and reads files." },
  owner: { title: "Everything", about: "Also starts agents and manages devices." },
};

export interface PairAnotherProps {
  /** What this device may do: it cannot give more. */
  readonly scopes: ReadonlySet<Scope> | undefined;
  readonly onClose: () => void;
}

export function PairAnother({ scopes, onClose }: PairAnotherProps): ReactElement {
  const { api } = useServices();
  const [preset, setPreset] = useState<Preset>("approver");
  const [pairing, setPairing] = useState<Pairing>();
  const [error, setError] = useState<string>();
  const create = (): void => {
    setError(undefined);
    api
      .createPairing(preset)
      .then(setPairing, (reason: unknown) => setError(reason instanceof Error ? reason.message : "That did not work"));
  };
  return (
    <Dialog title="Pair another device" onClose={onClose}>
      {error !== undefined && <Notice tone="danger">{error}</Notice>}
      {pairing === undefined ? (
        <>
          <PresetChoice preset={preset} scopes={scopes} onChange={setPreset} />
          <button type="button" className="button primary wide" onClick={create}>
            Make a code
          </button>
        </>
      ) : (
        <PairingView pairing={pairing} onAgain={() => setPairing(undefined)} />
      )}
    </Dialog>
  );
}

interface PresetChoiceProps {
  readonly preset: Preset;
  readonly scopes: ReadonlySet<Scope> | undefined;
  readonly onChange: (preset: Preset) => void;
}

function PresetChoice({ preset, scopes, onChange }: PresetChoiceProps): ReactElement {
  const presets = (Object.keys(PRESETS) as Preset[]).filter(
    (name) => scopes === undefined || PRESETS[name].every((scope) => scopes.has(scope)),
  );
  return (
    <fieldset className="field">
      <legend className="field-label">What may it do?</legend>
      <div className="choices">
        {presets.map((name) => (
          <label className="choice" key={name}>
            <input type="radio" name="preset" checked={preset === name} onChange={() => onChange(name)} />
            <span>
              {PRESET_WORDS[name].title}
              <small>{PRESET_WORDS[name].about}</small>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function PairingView({ pairing, onAgain }: { readonly pairing: Pairing; readonly onAgain: () => void }): ReactElement {
  const left = pairing.expiresAt - useHubNow(1000);
  if (left <= 0) {
    return (
      <>
        <Notice tone="warn">This code has expired.</Notice>
        <button type="button" className="button primary wide" onClick={onAgain}>
          Make another
        </button>
      </>
    );
  }
  return (
    <>
      <Suspense fallback={<p className="muted">Drawing…</p>}>
        <QrCode text={pairing.url} />
      </Suspense>
      <p className="pairing-code">{pairing.code}</p>
      <p className="muted pairing-about">Works once, for {countdown(left)} more.</p>
      <CopyButton text={pairing.url} label="Copy the link" isNamed />
    </>
  );
}
