/** What the HTTP API takes: routes read their bodies with these, and the OpenAPI document shows them. */
import { z } from "zod";
import { scopesFromText } from "../../../protocol/scope-text.ts";
import type { Successor } from "../../succession.ts";

const text = (name: string): z.ZodType<string> => z.string({ error: `"${name}" must be a string` });
const seconds = z.number({ error: '"ttlSeconds" must be a number' }).describe("Seconds until it ends.");

const SCOPE_WORDS = '"scope" must be viewer, approver, driver, owner or names of scopes';
const scope = z
  .string({ error: SCOPE_WORDS })
  .refine((value) => scopesFromText(value) !== undefined, SCOPE_WORDS)
  .describe("viewer, approver, driver, owner, or names of scopes with spaces between.");

const TITLE_MAX_BYTES = 4096;
const EMPTY_TITLE = '"title" has to be a text that is not empty';

interface PairingBody {
  readonly scope: string;
  readonly name?: string;
  readonly ttlSeconds?: number;
  readonly url?: string;
}

export const pairingBody: z.ZodType<PairingBody> = z.object({
  scope,
  name: z.exactOptional(text("name")),
  ttlSeconds: seconds.exactOptional(),
  url: z
    .exactOptional(text("url"))
    .describe("The address the link starts with, where it is another than the hub's own."),
});

interface PairBody {
  readonly code: string;
  readonly name?: string;
  readonly mode?: unknown;
}

export const pairBody: z.ZodType<PairBody> = z.object({
  code: text("code"),
  name: z.exactOptional(text("name")),
  mode: z.exactOptional(z.unknown()).describe('"cookie": for the hub\'s own app.'),
});

interface TokenBody {
  readonly refreshToken: string;
}

export const tokenBody: z.ZodType<TokenBody> = z.object({ refreshToken: text("refreshToken") });

interface NewTokenBody {
  readonly scope: string;
  readonly name?: string;
  readonly ttlSeconds?: number;
  readonly query?: boolean;
}

export const newTokenBody: z.ZodType<NewTokenBody> = z.object({
  scope,
  name: z.exactOptional(text("name")),
  ttlSeconds: seconds.exactOptional(),
  query: z.boolean({ error: '"query" must be true or false' }).exactOptional().describe("Also taken as ?token=."),
});

interface DeviceNameBody {
  readonly name: string;
}

export const deviceNameBody: z.ZodType<DeviceNameBody> = z.object({ name: text("name") });

interface NewInstanceBody {
  readonly workspacePath: string;
  readonly agent?: string;
}

export const newInstanceBody: z.ZodType<NewInstanceBody> = z.object({
  workspacePath: text("workspacePath"),
  agent: z.string({ error: '"agent" must be a profile name' }).exactOptional(),
});

interface TitleBody {
  readonly title: string;
}

export const titleBody: z.ZodType<TitleBody> = z.object({
  title: z
    .string({ error: EMPTY_TITLE })
    .trim()
    .min(1, EMPTY_TITLE)
    .refine((value) => Buffer.byteLength(value) <= TITLE_MAX_BYTES, `"title" is longer than ${TITLE_MAX_BYTES} bytes`),
});

export const successorBody: z.ZodType<Successor> = z.object({
  version: text("version"),
  pid: z.int({ error: '"pid" must be that of a running process' }).min(2, '"pid" must be that of a running process'),
  startedBy: z.enum(["bridge", "supervisor"], { error: '"startedBy" must be "bridge" or "supervisor"' }),
});
