/** The configuration as a value: its shape and its defaults. Without the schema, so that reading a type costs nothing. */

import type { Json } from "../protocol/json.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { Preset } from "../protocol/scopes.ts";

export type LogLevel = "trace" | "debug" | "info" | "warn" | "error" | "silent";

/** Every limit of contract §6: bytes, counts and milliseconds. */
export type Limits = { readonly [Name in keyof typeof LIMITS]: number };

export interface AgentConfig {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface IssuerConfig {
  /** The exact `iss` of its tokens. */
  readonly issuer: string;
  readonly audience: string | readonly string[];
  readonly jwksUrl: string;
  /** The claim that decides which preset a subject gets. */
  readonly claim: string;
  /** The claim's value → preset. */
  readonly presets: Readonly<Record<string, Preset>>;
  /** For subjects no value fits; they are refused when absent. */
  readonly fallback?: Preset | undefined;
  /** A header the issuer's proxy puts the token into. */
  readonly header?: string | undefined;
}

export interface Config {
  readonly host: string;
  readonly port: number;
  /** Where clients reach the hub, when that is not where it listens. */
  readonly publicUrl?: string | undefined;
  /** "" or "/path". */
  readonly basePath: string;
  /** Addresses whose `X-Forwarded-For` counts. */
  readonly trustedProxies: readonly string[];
  readonly http: {
    readonly origins: readonly string[];
    readonly hosts: readonly string[];
    /** Large WebSocket messages go compressed to clients that offer it: less to transfer, more to compute. */
    readonly compression: boolean;
  };
  readonly tls: {
    /** Files, PEM. */
    readonly cert?: string | undefined;
    readonly key?: string | undefined;
    /** Make a certificate of our own. */
    readonly selfSigned: boolean;
  };
  /** Where remote clients may start instances; nowhere when empty. */
  readonly create: { readonly roots: readonly string[] };
  readonly agents: Readonly<Record<string, AgentConfig>>;
  readonly remote: {
    /** Name → the ACP McpServer an agent gets when a remote client names it. */
    readonly mcpServers: Readonly<Record<string, Readonly<Record<string, Json>>>>;
    readonly metaKeys: readonly string[];
  };
  readonly capabilities: { readonly forms: "any" | "primary" };
  /** `timeoutMs` absent: nothing decides for a person. */
  readonly interactions: { readonly timeoutMs?: number | undefined };
  readonly limits: Limits;
  readonly journal: { readonly retentionDays: number; readonly maxBytes: number };
  /** Who did what: entries older than that, or beyond that many, go. */
  readonly audit: { readonly retentionDays: number; readonly maxEntries: number };
  readonly discovery: { readonly enabled: boolean; readonly name?: string | undefined };
  readonly log: { readonly level: LogLevel };
  /** Bridges start a hub when none runs. */
  readonly autostart: boolean;
  /** Options of the zcode profile, as its backend knows them. */
  readonly zcode: Readonly<Record<string, Json>>;
  readonly externalIssuers: readonly IssuerConfig[];
}

export const DEFAULT_CONFIG: Config = {
  host: "127.0.0.1",
  port: 8377,
  basePath: "",
  trustedProxies: [],
  http: { origins: [], hosts: [], compression: false },
  tls: { selfSigned: false },
  create: { roots: [] },
  agents: {},
  remote: { mcpServers: {}, metaKeys: [] },
  capabilities: { forms: "any" },
  interactions: {},
  limits: LIMITS,
  journal: { retentionDays: 90, maxBytes: 4_294_967_296 },
  audit: { retentionDays: 365, maxEntries: 200_000 },
  discovery: { enabled: true },
  log: { level: "info" },
  autostart: true,
  zcode: {},
  externalIssuers: [],
};
