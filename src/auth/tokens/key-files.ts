/** Signing keys as files: one JSON each, 0600, written whole or not at all. */
import { chmod, lstat, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from "jose";
import { isObject, numberAt, objectAt, stringAt } from "../../protocol/json.ts";
import { writePrivateFile } from "../private-file.ts";

export interface KeyFile {
  readonly kid: string;
  readonly createdAt: number;
  /** Since when it signs nothing new; it still verifies for a while. */
  readonly retiredAt?: number;
  /** The private key. */
  readonly jwk: JWK;
}

const VERSION = 1;
const NAME = /^signing-([A-Za-z0-9_-]{43})\.json$/;

const pathOf = (dir: string, kid: string): string => join(dir, `signing-${kid}.json`);

export async function makeKey(now: number): Promise<KeyFile> {
  const { privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true });
  const jwk = await exportJWK(privateKey);
  return { kid: await calculateJwkThumbprint(jwk), createdAt: now, jwk };
}

export async function writeKey(dir: string, key: KeyFile): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await writePrivateFile(pathOf(dir, key.kid), `${JSON.stringify({ version: VERSION, ...key })}\n`);
}

export async function removeKey(dir: string, kid: string): Promise<void> {
  await rm(pathOf(dir, kid), { force: true });
}

function parseKey(text: string): KeyFile | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value) || value["version"] !== VERSION) return undefined;
  const jwk = objectAt(value, "jwk");
  const kid = stringAt(value, "kid");
  const createdAt = numberAt(value, "createdAt");
  const retiredAt = numberAt(value, "retiredAt");
  const [x, d] = [stringAt(jwk, "x"), stringAt(jwk, "d")];
  if (kid === undefined || createdAt === undefined || x === undefined || d === undefined) return undefined;
  const key: JWK = { kty: "OKP", crv: "Ed25519", x, d };
  return { kid, createdAt, ...(retiredAt !== undefined && { retiredAt }), jwk: key };
}

export interface ReadKeys {
  readonly keys: readonly KeyFile[];
  /** What a person should know: rights that were too wide, files that could not be read. Names only, never content. */
  readonly notices: readonly string[];
}

/** Reads the key of one file. Wider rights are tightened; what is no key is left where it is and not used. */
async function readKey(dir: string, name: string, notices: string[]): Promise<KeyFile | undefined> {
  const path = join(dir, name);
  const info = await lstat(path);
  if (!info.isFile()) {
    notices.push(`${path} is not a plain file and is not used`);
    return undefined;
  }
  if ((info.mode & 0o077) !== 0) {
    await chmod(path, 0o600);
    notices.push(
      `${path} could be read by others; its rights are 0600 now. Rotate the keys if anyone else uses this machine`,
    );
  }
  const key = parseKey(await readFile(path, "utf8"));
  // The name has to be the key's own fingerprint: a swapped file would otherwise verify under another key's id.
  const isSound =
    key !== undefined && NAME.exec(name)?.[1] === key.kid && (await calculateJwkThumbprint(key.jwk)) === key.kid;
  if (!isSound) notices.push(`${path} holds no signing key and is not used`);
  return isSound ? key : undefined;
}

/** All keys, the newest first. */
export async function readKeys(dir: string): Promise<ReadKeys> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const notices: string[] = [];
  const keys: KeyFile[] = [];
  for (const name of (await readdir(dir)).filter((entry) => NAME.test(entry)).sort()) {
    const key = await readKey(dir, name, notices);
    if (key !== undefined) keys.push(key);
  }
  return { keys: keys.sort((a, b) => b.createdAt - a.createdAt), notices };
}
