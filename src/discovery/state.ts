/** How advertising stands, for `doctor`, `status` and the diagnostics route: a silent failure costs an afternoon. */

export interface InterfaceFailure {
  readonly interface: string;
  readonly address: string;
  /** The system's code, such as EADDRINUSE; "unknown" where it gave none. */
  readonly code: string;
}

export type DiscoveryState =
  | { readonly kind: "off"; readonly reason: "loopback" | "disabled" | "stopped" }
  /** Asking the link whether the name is free. */
  | { readonly kind: "probing"; readonly name: string }
  | {
      readonly kind: "advertised";
      readonly name: string;
      /** The wanted name, where another hub has it. */
      readonly renamedFrom?: string;
      readonly addresses: readonly string[];
      /** Interfaces it is not advertised on. */
      readonly failures: readonly InterfaceFailure[];
    }
  /** No interface to advertise on now; it goes on looking. */
  | { readonly kind: "no-network" }
  /** Every interface failed; it goes on trying. */
  | { readonly kind: "failed"; readonly failures: readonly InterfaceFailure[] };
