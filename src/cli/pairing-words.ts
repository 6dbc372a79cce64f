/** Prints a way in: link, text code and QR (contract §1). */
import { toString as qrText } from "qrcode";

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
    `or open ${words.url.replace(/\/?#.*$/, "")} and type the code ${words.code}`,
    "",
  ].join("\n");
}
