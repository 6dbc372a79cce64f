/**
 * The hub's signing keys: one Ed25519 key signs, the ones before it still verify until no token they signed can be valid any
 * more. A key is chosen by its id and nothing in a token chooses how it is used.
 */
import { type CryptoKey, importJWK, type JWK } from "jose";
import type { Clock } from "../ports.ts";
import { type KeyFile, makeKey, readKeys, removeKey, writeKey } from "./key-files.ts";

/** The only algorithm there is. */
export const ALGORITHM = "EdDSA";

const DAY_MS = 86_400_000;

export interface KeyRingOptions {
  /** `keys/` of the home. */
  readonly dir: string;
  readonly clock: Clock;
  /** How long a retired key verifies: the longest life of any token. */
  readonly overlapMs: number;
  /** A key older than this is replaced when the ring is opened; 90 days when absent. */
  readonly rotateAfterMs?: number;
}

export interface SigningKey {
  readonly kid: string;
  readonly privateKey: CryptoKey;
}

interface RingKey extends SigningKey {
  readonly file: KeyFile;
  readonly publicKey: CryptoKey;
}

export interface Jwks {
  readonly keys: readonly JWK[];
}

async function imported(jwk: JWK): Promise<CryptoKey> {
  const key = await importJWK(jwk, ALGORITHM);
  if (key instanceof Uint8Array) throw new TypeError("an Ed25519 key is no secret of bytes");
  return key;
}

const publicJwk = ({ crv, x }: JWK): JWK => ({
  kty: "OKP",
  ...(crv !== undefined && { crv }),
  ...(x !== undefined && { x }),
});

async function ringKey(file: KeyFile): Promise<RingKey> {
  const [privateKey, publicKey] = await Promise.all([imported(file.jwk), imported(publicJwk(file.jwk))]);
  return { kid: file.kid, file, privateKey, publicKey };
}

export class KeyRing {
  readonly #options: KeyRingOptions;
  /** Newest first; the first one signs. */
  #keys: readonly RingKey[];
  /** What a person should know about the files. */
  readonly notices: readonly string[];

  private constructor(options: KeyRingOptions, keys: readonly RingKey[], notices: readonly string[]) {
    this.#options = options;
    this.#keys = keys;
    this.notices = notices;
  }

  /** Reads the keys, makes the first one, replaces an old one. Rejects when the directory cannot be used. */
  static async open(options: KeyRingOptions): Promise<KeyRing> {
    const { keys, notices } = await readKeys(options.dir);
    const ring = new KeyRing(options, await Promise.all(keys.map(ringKey)), notices);
    const current = keys[0];
    const oldest = options.clock.now() - (options.rotateAfterMs ?? 90 * DAY_MS);
    if (current === undefined || current.retiredAt !== undefined || current.createdAt < oldest) await ring.rotate();
    else await ring.#forgetEnded();
    return ring;
  }

  get current(): SigningKey {
    const [key] = this.#keys;
    if (key === undefined) throw new TypeError("a key ring always has a key");
    return key;
  }

  /** The name of the current key: what discovery shows, so that a client knows the hub again. */
  get fingerprint(): string {
    return this.current.kid;
  }

  /** The public key of this id, while it verifies. */
  find(kid: string | undefined): CryptoKey | undefined {
    const key = this.#keys.find((candidate) => candidate.kid === kid);
    return key !== undefined && this.#isAlive(key) ? key.publicKey : undefined;
  }

  /** `/.well-known/jwks.json`. */
  jwks(): Jwks {
    const alive = this.#keys.filter((key) => this.#isAlive(key));
    return { keys: alive.map(({ kid, file }) => ({ ...publicJwk(file.jwk), kid, alg: ALGORITHM, use: "sig" })) };
  }

  /** Signs with a new key from now on. */
  async rotate(): Promise<void> {
    const now = this.#options.clock.now();
    const made = await makeKey(now);
    // The new key is on disk before anything is signed with it or the old one retires.
    await writeKey(this.#options.dir, made);
    const retired = await Promise.all(this.#keys.map((key) => this.#retire(key, now)));
    this.#keys = [await ringKey(made), ...retired];
    await this.#forgetEnded();
  }

  async #retire(key: RingKey, now: number): Promise<RingKey> {
    if (key.file.retiredAt !== undefined) return key;
    const file = { ...key.file, retiredAt: now };
    await writeKey(this.#options.dir, file);
    return { ...key, file };
  }

  #isAlive({ file }: RingKey): boolean {
    return file.retiredAt === undefined || this.#options.clock.now() < file.retiredAt + this.#options.overlapMs;
  }

  async #forgetEnded(): Promise<void> {
    for (const { kid } of this.#keys.filter((key) => !this.#isAlive(key))) await removeKey(this.#options.dir, kid);
    this.#keys = this.#keys.filter((key) => this.#isAlive(key));
  }
}
