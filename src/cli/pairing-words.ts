/** Prints a way in: link, text code and QR (contract §1). */
import { toString as qrText } from "qrcode";
import type { Auth } from "../auth/auth.ts";
import { isAuthFailure } from "../auth/failures.ts";
import { LOCAL_OWNER } from "../auth/principal.ts";
import { PRESETS } from "../protocol/scopes.ts";

export interface PairingWords {
  readonly url: string;
  readonly code: string;
  readonly scope: string;
  readonly expiresAt: number;
}

/** The QR in blocks of the terminal, for phones to read off the screen. */
export const qrOf = (url: string): Promise<string> =>
  qrText(url, { type: "terminal", small: true, errorCorrectionLevel: "L" });

export async function pairingText(words: PairingWords): Promise<string> {
  const minutes = Math.max(1, Math.round((words.expiresAt - Date.now()) / 60_000));
  return [
    "",
    await qrOf(words.url),
    `Open this link once, within ${minutes} minutes (it gives the rights of "${words.scope}"):`,
    `  ${words.url}`,
    `or open the hub's address and type the code ${words.code}`,
    "",
  ].join("\n");
}

/** For the hub that prints its own. */
export async function printPairing(auth: Auth, baseUrl: string): Promise<void> {
  const made = auth.createPairing({ scopes: PRESETS.driver, name: "demo" }, LOCAL_OWNER);
  if (isAuthFailure(made)) return void process.stderr.write(`acp-hub: ${made.detail}\n`);
  const url = `${baseUrl.replace(/\/$/, "")}/#pair=${made.linkSecret}`;
  process.stdout.write(await pairingText({ url, code: made.code, scope: "driver", expiresAt: made.expiresAt }));
}
