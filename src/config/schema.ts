/** The one schema of the configuration. The JSON Schema editors use is generated from it (`schema-json.ts`). */
import { isIP } from "node:net";
import { isAbsolute } from "node:path";
import { z } from "zod";
import type { Json } from "../protocol/json.ts";
import { LIMITS } from "../protocol/limits.ts";
import { type Config, DEFAULT_CONFIG, type Limits } from "./config.ts";

const bytes = z.int().min(1_024);
const count = z.int().min(1).max(1_000_000);
const milliseconds = z.int().min(1).max(86_400_000);

const origin = z
  .string()
  .refine(
    (text) => URL.canParse(text) && new URL(text).origin === text,
    'must be an origin such as "https://app.example", exactly as a browser sends it',
  )
  .meta({ format: "uri" });

const hostName = z
  .string()
  .regex(/^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)$/, "must be a host name without scheme and port");

const address = z.string().refine((text) => isIP(text) !== 0, "must be an IP address");
const directory = z.string().refine(isAbsolute, "must be an absolute path");
const preset = z.enum(["viewer", "approver", "driver", "owner"]);

const webUrl = z
  .string()
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), "must be an http or https URL")
  .meta({ format: "uri" });

const LIMIT_WORDS: { readonly [Name in keyof Limits]: string } = {
  remoteFrameBytes: "The largest message of a client that may prompt.",
  agentLineBytes: "The largest message of an agent that is shared whole.",
  bodyBytes: "The largest body of a request.",
  connectionsPerDevice: "Connections of one device, and as many event streams.",
  connectionsMax: "Connections of all devices, and as many event streams.",
  pairingMs: "How long a pairing code lives at most.",
  pairingWrongTriesMax: "Wrong codes, from wherever, that end every code that was open meanwhile.",
  failuresPerAddress: "Failed tries of an address (credentials, codes) before it has to wait.",
  failuresMs: "In this time, and how long it waits.",
  outboxSoftBytes: "Unsent bytes of a connection above which updates wait and come joined.",
  outboxHardBytes: "Unsent bytes above which a connection is closed.",
  outboxStallMs: "How long a connection may take nothing while something waits.",
  journalBytes: "What is kept of one session.",
  initializeMs: "From the upgrade to initialize.",
  lanePromptsMax: "Prompts of one session that wait.",
  pingMs: "Between pings; two missed end a connection.",
  headlessMax: "Instances without an editor that run at a time, of those clients may start (create.roots).",
};

/** What contract §6 counts in which unit, by the ending of its name. */
function limitOf(name: keyof Limits): z.ZodType<number> {
  const type = name.endsWith("Bytes") ? bytes : name.endsWith("Ms") ? milliseconds : count;
  return type.default(LIMITS[name]).describe(`${LIMIT_WORDS[name]} Default ${LIMITS[name]}.`);
}

const limitNames = Object.keys(LIMITS) as (keyof Limits)[];
const limits = z.strictObject(Object.fromEntries(limitNames.map((name) => [name, limitOf(name)])));

const json: z.ZodType<Json> = z.json();

const agent = z.strictObject({
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  env: z.record(z.string(), z.string()).default({}),
});

const issuer = z.strictObject({
  issuer: z.string().min(1).describe("The exact iss of its tokens."),
  audience: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]),
  jwksUrl: webUrl.describe("Where its keys are."),
  claim: z.string().min(1).default("email").describe("The claim that decides which preset a subject gets."),
  presets: z.record(z.string(), preset).describe("The claim's value → preset."),
  fallback: preset.optional().describe("For subjects no value fits; they are refused when this is absent."),
  header: z.string().min(1).optional().describe('A header the issuer\'s proxy uses, e.g. "Cf-Access-Jwt-Assertion".'),
});

const D = DEFAULT_CONFIG;

const schema = z.strictObject({
  $schema: z.string().optional(),
  host: z.string().min(1).default(D.host).describe("Address to listen on. Anything but loopback exposes the hub."),
  port: z.int().min(0).max(65_535).default(D.port).describe("0 takes a free one."),
  publicUrl: webUrl.optional().describe("Where clients reach the hub, e.g. through a tunnel."),
  basePath: z
    .string()
    .regex(/^(\/[A-Za-z0-9._~-]+)*$/, 'must be empty or start with "/" and not end with one')
    .default(D.basePath),
  trustedProxies: z.array(address).default([]).describe("Proxies whose X-Forwarded-For and X-Forwarded-Proto count."),
  http: z
    .strictObject({
      origins: z.array(origin).default([]).describe("Other web origins that may use the API, exact."),
      hosts: z.array(hostName).default([]).describe("Further names the hub answers for."),
      compression: z
        .boolean()
        .default(D.http.compression)
        .describe("Compress WebSocket messages from 1 KiB on for clients that offer it: for slow links."),
    })
    .prefault({}),
  tls: z
    .strictObject({
      cert: z.string().min(1).optional().describe("Certificate chain, a PEM file."),
      key: z.string().min(1).optional().describe("Its private key, a PEM file."),
      selfSigned: z.boolean().default(false).describe("Make a certificate of the hub's own."),
    })
    .prefault({}),
  create: z
    .strictObject({
      roots: z
        .array(directory)
        .default([])
        .describe("Directories where remote clients may start agents. None: they may not."),
    })
    .prefault({}),
  agents: z
    .record(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/), agent)
    .default({})
    .describe("Profiles for acp-hub bridge <name>."),
  remote: z
    .strictObject({
      mcpServers: z
        .record(z.string(), z.record(z.string(), json))
        .default({})
        .describe("MCP servers remote clients may ask for by name, as the agent is to get them."),
      metaKeys: z
        .array(z.string().min(1))
        .default([])
        .describe("Further _meta keys remote clients may pass to the agent."),
    })
    .prefault({}),
  capabilities: z
    .strictObject({
      forms: z.enum(["any", "primary"]).default("any").describe("Whose forms a spawned agent may count on."),
    })
    .prefault({}),
  interactions: z
    .strictObject({
      timeoutMs: z.int().min(1_000).optional().describe("Refuse unanswered questions after this. Absent: never."),
    })
    .prefault({}),
  limits: limits.prefault({}),
  journal: z
    .strictObject({
      retentionDays: z.int().min(1).max(36_500).default(D.journal.retentionDays),
      maxBytes: bytes.default(D.journal.maxBytes).describe("All sessions together; the oldest go first."),
    })
    .prefault({}),
  audit: z
    .strictObject({
      retentionDays: z.int().min(1).max(36_500).default(D.audit.retentionDays).describe("Older entries go."),
      maxEntries: z
        .int()
        .min(1_000)
        .max(100_000_000)
        .default(D.audit.maxEntries)
        .describe("The oldest beyond it go. An entry audit.prune says which went."),
    })
    .prefault({}),
  discovery: z
    .strictObject({
      enabled: z.boolean().default(true).describe("Announce the hub on the local network when it listens there."),
      name: z.string().min(1).max(63).optional(),
    })
    .prefault({}),
  log: z
    .strictObject({ level: z.enum(["trace", "debug", "info", "warn", "error", "silent"]).default(D.log.level) })
    .prefault({}),
  autostart: z.boolean().default(D.autostart).describe("Bridges start a hub when none runs."),
  zcode: z.record(z.string(), json).default({}).describe("Options of the zcode profile."),
  externalIssuers: z.array(issuer).default([]).describe("OpenID Connect issuers or Cloudflare Access teams to trust."),
});

/** One thing that is wrong. `path` leads to the value. */
export interface SchemaIssue {
  readonly path: readonly (string | number)[];
  readonly message: string;
  /** Set for keys nobody knows: their names, at `path`. */
  readonly unknownKeys?: readonly string[];
}

export type SchemaResult =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly issues: readonly SchemaIssue[] };

function issueOf(issue: z.core.$ZodIssue): SchemaIssue {
  const path = issue.path.map((part) => (typeof part === "number" ? part : String(part)));
  if (issue.code === "unrecognized_keys") return { path, message: "is not known", unknownKeys: issue.keys };
  return { path, message: issue.message.replace(/^Invalid input: /, "") };
}

/** Checks and completes. `$schema` is for editors and no part of the configuration. */
export function parseConfig(value: unknown): SchemaResult {
  const parsed = schema.safeParse(value);
  if (!parsed.success) return { ok: false, issues: parsed.error.issues.map(issueOf) };
  const { $schema: _, ...config } = parsed.data;
  // The limits' names come from LIMITS itself, which the type of a computed object does not show.
  return { ok: true, config: { ...config, limits: config.limits as Limits } };
}

export type LeafType = "string" | "number" | "boolean" | "strings" | "json";

/** A value of its own, as the environment names one: `http.origins`. */
export interface Leaf {
  readonly path: readonly string[];
  readonly type: LeafType;
}

function bare(type: z.core.$ZodType): z.core.$ZodType {
  const { def } = type as z.ZodType;
  return "innerType" in def ? bare(def.innerType as z.core.$ZodType) : type;
}

function leafType(type: z.core.$ZodType): LeafType {
  if (type instanceof z.ZodNumber) return "number";
  if (type instanceof z.ZodBoolean) return "boolean";
  if (type instanceof z.ZodString || type instanceof z.ZodEnum) return "string";
  if (type instanceof z.ZodArray && bare(type.element) instanceof z.ZodString) return "strings";
  return "json";
}

function leavesOf(type: z.core.$ZodType, path: readonly string[]): Leaf[] {
  const inner = bare(type);
  if (!(inner instanceof z.ZodObject)) return [{ path, type: leafType(inner) }];
  return Object.entries(inner.shape).flatMap(([key, member]) => leavesOf(member, [...path, key]));
}

/** Every value there is, in the order of the schema. */
export const LEAVES: readonly Leaf[] = leavesOf(schema, []).filter(({ path }) => path[0] !== "$schema");

/** The JSON Schema of the file. */
export function jsonSchema(): Record<string, unknown> {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: "input", target: "draft-07" });
  return { $schema, title: "acp-hub configuration", ...rest };
}
