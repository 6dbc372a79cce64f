/** An `Auth` over temporary keys, records in memory and a clock moved by hand. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Auth, type AuthOptions } from "../../src/auth/auth.ts";
import { type Carrier, type CarrierRequest, readCarrier } from "../../src/auth/carrier.ts";
import type { AuthFailure } from "../../src/auth/failures.ts";
import type { AuditEvent, CredentialStore, RandomBytes } from "../../src/auth/ports.ts";
import { LOCAL_OWNER, type Principal } from "../../src/auth/principal.ts";
import { MemoryDevices } from "../../src/store/memory/devices.ts";
import { ManualClock } from "./manual-clock.ts";

export const PORT = 8377;
export const OWN_ORIGIN: string = `http://127.0.0.1:${PORT}`;
export const COOKIE: { port: number; basePath: string; isSecure: boolean } = {
  port: PORT,
  basePath: "",
  isSecure: false,
};

/** Bytes that differ every time and are the same in every run. */
export function countedRandom(): RandomBytes {
  let state = 0x9e3779b9;
  return (count) =>
    Uint8Array.from({ length: count }, () => {
      state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5;
      return (state >>> 11) & 0xff;
    });
}

export interface AuthFixture {
  readonly auth: Auth;
  readonly clock: ManualClock;
  readonly store: CredentialStore;
  readonly audit: AuditEvent[];
  readonly errors: unknown[];
  readonly keysDir: string;
  /** The hub again, with the same files and records. */
  restart(): Promise<AuthFixture>;
  /** Who a request is. */
  ask(request: Partial<CarrierRequest>): Promise<Principal | AuthFailure>;
  dispose(): void;
}

export function carrier(request: Partial<CarrierRequest>, issuerHeaders: readonly string[] = []): Carrier {
  const full = { method: "GET", url: "/api/instances", address: "192.0.2.1", ...request };
  const headers = { host: `127.0.0.1:${PORT}`, ...request.headers };
  return readCarrier(
    { ...full, headers },
    {
      cookieName: `acp-hub-${PORT}`,
      issuerHeaders,
      isOwnOrigin: (origin, host) => origin === `http://${host ?? ""}`,
    },
  );
}

export async function authFixture(
  options: Partial<AuthOptions> & { readonly clock?: ManualClock } = {},
): Promise<AuthFixture> {
  const clock = options.clock ?? new ManualClock();
  const keysDir = options.keysDir ?? mkdtempSync(join(tmpdir(), "acp-hub-auth-"));
  const store = options.store ?? new MemoryDevices();
  const audit: AuditEvent[] = [];
  const errors: unknown[] = [];
  const full: AuthOptions = {
    random: countedRandom(),
    onError: (error) => errors.push(error),
    audit: { append: (event) => audit.push(event) },
    ...options,
    keysDir,
    store,
    clock,
  };
  const auth = await Auth.open(full);
  return {
    auth,
    clock,
    store,
    audit,
    errors,
    keysDir,
    restart: () =>
      authFixture({
        ...options,
        keysDir,
        store,
        clock,
        random: (count) => crypto.getRandomValues(new Uint8Array(count)),
      }),
    ask: (request) => auth.authenticate(carrier(request, auth.issuerHeaders)),
    dispose: () => rmSync(keysDir, { recursive: true, force: true }),
  };
}

/** What a call gave, which must not be a failure. */
export function given<T extends object>(value: T | AuthFailure): T {
  if ("code" in value && "status" in value && "detail" in value) throw new Error(`refused: ${String(value.code)}`);
  return value as T;
}

export { LOCAL_OWNER };
