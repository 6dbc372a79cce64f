/**
 * What the HTTP API answers, as the OpenAPI document shows it. Each schema is of the type the route answers with; what the compiler
 * does not see (a member more than documented), the tests find in the answers. Open by nature: answers only grow (contract).
 */
import { z } from "zod";
import type { Ticket } from "../../../auth/grants/tickets.ts";
import { LINE_CHARS_MAX } from "../../../core/journal/plain-line.ts";
import type { DeviceRecord } from "../../../protocol/devices.ts";
import type { OpenInteraction, SettledNotice } from "../../../protocol/hub-methods.ts";
import type { QuietHours } from "../../../protocol/quiet-hours.ts";
import { SCOPES } from "../../../protocol/scopes.ts";
import type { WorkspaceInfo } from "../../../store/ports.ts";
import type { Delivery } from "../../push/pusher.ts";
import type { StartedBy } from "../../succession.ts";
import type { FileMatches } from "../file-search-route.ts";
import type { DirectoryListing } from "../list-directory.ts";
import type { PushPreferencesView } from "../push-routes.ts";
import type { InstanceView, LineView, SessionView } from "../views.ts";

/** A device as `GET /api/devices` shows it. */
export interface DeviceView extends Omit<DeviceRecord, "deviceId"> {
  readonly deviceId: string;
  readonly scope: string;
  /** Open sockets. */
  readonly connections: number;
  /** The one that asks. */
  readonly isThis: boolean;
}

/** A session as `GET /api/sessions` shows it. */
export interface HistorySessionView extends LineView {
  readonly sessionId: string;
  readonly agent: string;
  readonly cwd: string;
  readonly title: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly state: SessionView["status"] | "closed";
  readonly closedAt: number | null;
  readonly instanceId: unknown;
  readonly snippet?: {
    readonly text: string;
    readonly marks: readonly (readonly number[])[];
    readonly epoch?: string;
    readonly seq?: number;
  };
}

/** A hub as `GET /api/hub` shows it. */
export interface AboutHub {
  readonly version: string;
  readonly startedAt: number;
  readonly startedBy: StartedBy;
  readonly state: "serving" | "draining";
  readonly newerBridge: string | null;
}

const named = <Output>(id: string, schema: z.ZodType<Output>): z.ZodType<Output> => schema.meta({ id });

const time = z.number().describe("Epoch milliseconds.");
const scopes = z.array(z.enum(SCOPES));
const scopeText = z.string().describe("A preset's name, or names of scopes with spaces between.");
const json = z.unknown();

export const problem: z.ZodType = named(
  "Problem",
  z
    .looseObject({
      type: z.string(),
      title: z.string(),
      status: z.int(),
      detail: z.string(),
      code: z.string().exactOptional().describe("For machines; what stands here is a closed set per route."),
    })
    .describe("application/problem+json (RFC 9457). Members of the case at hand stand beside these."),
);

const line = {
  lastText: z
    .string()
    .max(LINE_CHARS_MAX)
    .nullable()
    .describe(
      "One line of plain text: the last of the last message, or the title of the tool after it. Null: unknown.",
    ),
  lastFrom: z.enum(["agent", "user", "tool"]).nullable().describe("Whose it is; null with it."),
};

export const session: z.ZodType<SessionView> = named(
  "Session",
  z.object({
    sessionId: z.string(),
    title: z.string().nullable(),
    cwd: z.string(),
    branch: z
      .string()
      .nullable()
      .describe("The branch `cwd` is on, or the first digits of its commit; null: no repository, or not read yet."),
    status: z.enum(["idle", "running", "waiting"]),
    turnSince: time.nullable().describe("Since when `status` is so, epoch milliseconds; null: unknown."),
    updatedAt: time,
    openInteractions: z.int(),
    ...line,
    superseded: z.literal(true).exactOptional().describe("It goes on at another instance, which was active later."),
    supersededBy: z.string().exactOptional().describe("The id of that instance."),
  }),
);

const instanceState = z.enum(["up", "unreachable", "unresponsive"]);

export const instance: z.ZodType<InstanceView> = named(
  "Instance",
  z.object({
    id: z.string(),
    pid: z.int(),
    startedAt: time,
    workspace: z.string(),
    name: z.string(),
    agent: z.object({ name: z.string().nullable(), title: z.string().nullable(), version: z.string().nullable() }),
    origin: z.enum(["editor", "headless"]),
    editor: z
      .string()
      .nullable()
      .describe("What the editor calls itself; null: there is none, or it has not said yet."),
    state: instanceState,
    clients: z.int(),
    sessions: z.array(session),
  }),
);

export const instanceStatus: z.ZodType<Pick<InstanceView, "state" | "clients" | "sessions">> = z.object({
  state: instanceState,
  clients: z.int(),
  sessions: z.array(session),
});

const by = named("By", z.object({ connectionId: z.string(), device: z.string(), name: z.string() }));

const outcome = named(
  "Outcome",
  z.object({
    action: z.enum(["answered", "cancelled", "withdrawn", "ended"]),
    optionId: z.string().exactOptional(),
    optionName: z.string().exactOptional(),
    optionKind: z.string().exactOptional(),
    elicitation: z.string().exactOptional(),
  }),
);

export const interaction: z.ZodType<Omit<OpenInteraction, "params">> = named(
  "Interaction",
  z.object({
    interactionId: z.string(),
    instanceId: z.string(),
    sessionId: z.string().exactOptional(),
    method: z.string().describe("session/request_permission or elicitation/create."),
    params: json.describe("The request as the agent asked it."),
    openedAt: time,
  }),
);

export const settled: z.ZodType<Pick<SettledNotice, "outcome" | "at">> = z.object({ settledBy: by, outcome, at: time });

export const device: z.ZodType<DeviceView> = named(
  "Device",
  z.object({
    deviceId: z.string(),
    name: z.string(),
    kind: z.enum(["app", "browser", "script", "remote", "external"]),
    scope: scopeText,
    scopes,
    queryAllowed: z.boolean().describe("Its token is also taken as ?token=."),
    createdAt: time,
    createdBy: z.string().exactOptional(),
    expiresAt: time.exactOptional(),
    revokedAt: time.exactOptional(),
    revokedWhy: z.string().exactOptional(),
    lastSeenAt: time.exactOptional(),
    lastAddress: z.string().exactOptional(),
    connections: z.int(),
    isThis: z.boolean(),
  }),
);

export const pairing: z.ZodType = z.object({
  code: z.string(),
  url: z.string().describe("The secret stands in the fragment: it reaches no server and no log."),
  scope: scopeText,
  expiresAt: time,
});

export const tokenPair: z.ZodType = named(
  "TokenPair",
  z.object({
    deviceId: z.string(),
    scope: scopeText,
    scopes,
    accessToken: z.string(),
    refreshToken: z.string().describe("For one use: the next one comes with the answer."),
    expiresIn: z.number().describe("Seconds."),
  }),
);

export const browserPairing: z.ZodType = z
  .object({ deviceId: z.string(), scope: scopeText, scopes, key: z.string() })
  .describe("With `mode: cookie`: the cookie is set, the key goes into X-Acp-Hub-Key.");

export const madeToken: z.ZodType = z.object({
  token: z.string(),
  deviceId: z.string(),
  name: z.string(),
  expiresAt: time.nullable(),
});

export const ticket: z.ZodType<Ticket> = z.object({ ticket: z.string(), expiresIn: z.number().describe("Seconds.") });

export const jwks: z.ZodType = z.object({ keys: z.array(z.looseObject({ kty: z.string(), kid: z.string() })) });

export const createdInstance: z.ZodType = z.object({ id: z.string(), reused: z.boolean() });

export const directory: z.ZodType<DirectoryListing> = z.object({
  path: z.string(),
  entries: z.array(
    z.object({
      name: z.string(),
      path: z.string(),
      type: z.enum(["file", "directory", "other"]),
      isLink: z.literal(true).exactOptional(),
      size: z.number(),
      modifiedAt: time,
    }),
  ),
  truncated: z.boolean(),
});

export const fileMatches: z.ZodType<FileMatches> = z.object({
  entries: z.array(
    z.object({
      path: z.string().describe("What the other file routes take."),
      name: z.string(),
      uri: z.string().describe("For an agent."),
    }),
  ),
  truncated: z.boolean().describe("Not all of the workspace was looked at."),
});

export const workspace: z.ZodType<WorkspaceInfo> = z.object({
  cwd: z.string(),
  sessionCount: z.int(),
  updatedAt: time,
});

export const historySession: z.ZodType<HistorySessionView> = named(
  "HistorySession",
  z.object({
    sessionId: z.string(),
    agent: z.string(),
    cwd: z.string(),
    title: z.string().nullable(),
    createdAt: time,
    updatedAt: time,
    state: z.enum(["idle", "running", "waiting", "closed"]),
    closedAt: time.nullable(),
    ...line,
    instanceId: json.describe("Of a live session: where it runs. Else null."),
    snippet: z
      .object({
        text: z.string(),
        marks: z.array(z.array(z.int())).describe("[start, end) offsets of what matched."),
        epoch: z.string().exactOptional(),
        seq: z.int().exactOptional(),
      })
      .exactOptional(),
  }),
);

export const sessionPage: z.ZodType = z.object({
  sessions: z.array(historySession),
  nextCursor: z.string().nullable(),
});

export const transcript: z.ZodType = z.looseObject({
  sessionId: z.string(),
  agent: z.string(),
  cwd: z.string(),
  title: z.string().nullable(),
  createdAt: time,
  updatedAt: time,
  events: z.array(
    z.object({
      epoch: z.string(),
      seq: z.int(),
      ts: time,
      method: z.string(),
      params: json,
      by: by.exactOptional(),
    }),
  ),
});

export const auditPage: z.ZodType = z.object({
  entries: z.array(
    z.object({
      id: z.int(),
      at: time,
      actor: z.object({
        deviceId: z.string(),
        connectionId: z.string().exactOptional(),
        name: z.string(),
        address: z.string().exactOptional(),
      }),
      action: z.string(),
      target: z.string().exactOptional(),
      detail: z.record(z.string(), json).exactOptional(),
    }),
  ),
});

export const diagnostics: z.ZodType = z.object({
  discovery: z.looseObject({ kind: z.enum(["off", "probing", "advertised", "no-network", "failed"]) }),
  findings: z.array(
    z.object({
      id: z.string(),
      level: z.enum(["ok", "warn", "fail"]),
      text: z.string(),
      fix: z.string().exactOptional(),
    }),
  ),
});

export const aboutHub: z.ZodType<AboutHub> = z.object({
  version: z.string(),
  startedAt: time,
  startedBy: z.enum(["bridge", "person", "supervisor"]),
  state: z.enum(["serving", "draining"]),
  newerBridge: z.string().nullable().describe("The newest version a bridge has shown, where this hub is older."),
});

export const deliveries: z.ZodType<{ readonly deliveries: readonly Delivery[] }> = z.object({
  deliveries: z.array(
    z.object({
      at: time,
      deviceId: z.string(),
      kind: z.string(),
      status: z.int().exactOptional(),
      hushed: z.enum(["muted", "quiet-hours"]).exactOptional(),
    }),
  ),
});

export const quietHours: z.ZodType<QuietHours> = z.object({
  from: z.string().describe("HH:MM, included."),
  to: z.string().describe("HH:MM, no longer included; earlier than `from`: on the next day."),
  timeZone: z.string().describe("IANA name."),
  letsQuestionsThrough: z.boolean(),
});

export const pushPreferences: z.ZodType<PushPreferencesView> = z.object({
  quietHours: quietHours.nullable(),
  mutedSessions: z.array(z.string()),
});
