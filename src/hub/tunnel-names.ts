/**
 * Public addresses of tunnels that run now, on top of `publicUrl`: a quick tunnel gets its name when it starts. Each is good for a
 * while and renewed by the command that runs the tunnel, so that a name ends with its tunnel.
 */
export const TUNNEL_LEASE_MS = 90_000;
/** More at once is a mistake. */
const TUNNELS_MAX = 8;

interface Lease {
  readonly host: string;
  readonly expiresAt: number;
}

export class TunnelNames {
  readonly #leases = new Map<string, Lease>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** False when there are too many. `url` is absolute. */
  renew(url: URL): boolean {
    this.#sweep();
    if (!this.#leases.has(url.origin) && this.#leases.size >= TUNNELS_MAX) return false;
    this.#leases.set(url.origin, { host: url.hostname.toLowerCase(), expiresAt: this.#now() + TUNNEL_LEASE_MS });
    return true;
  }

  end(url: URL): void {
    this.#leases.delete(url.origin);
  }

  hasHost(host: string): boolean {
    return [...this.#leases.values()].some((lease) => lease.host === host && lease.expiresAt > this.#now());
  }

  hasOrigin(origin: string): boolean {
    return (this.#leases.get(origin)?.expiresAt ?? 0) > this.#now();
  }

  #sweep(): void {
    for (const [origin, lease] of this.#leases) if (lease.expiresAt <= this.#now()) this.#leases.delete(origin);
  }
}
