/**
 * The OpenAPI 3.1 document: made of the routes that stand, with what each needs, and of the operations as they are written down.
 * A route without an operation is an error of ours that a test finds.
 */
import { z } from "zod";
import { type Json, type JsonObject, objectAt } from "../../../protocol/json.ts";
import type { Requirement } from "../../../protocol/scopes.ts";
import { ACCESS_OPERATIONS } from "./access-operations.ts";
import type { Answer, Operation, Parameter } from "./operation.ts";
import { PUSH_OPERATIONS } from "./push-operations.ts";
import { SESSION_OPERATIONS } from "./session-operations.ts";
import { problem } from "./shapes.ts";

export const OPERATIONS: Readonly<Record<string, Operation>> = {
  ...ACCESS_OPERATIONS,
  ...SESSION_OPERATIONS,
  ...PUSH_OPERATIONS,
};

export interface DocumentOptions {
  readonly version: string;
  /** Every route, e.g. `GET /api/instances`, and what it needs; undefined: nothing. */
  readonly routes: ReadonlyMap<string, Requirement | undefined>;
  readonly basePath?: string;
  /** For tests: objects hold nothing but what is documented. To clients they are open. */
  readonly isClosed?: boolean;
}

export function openApiDocument({ version, routes, basePath = "", isClosed = false }: DocumentOptions): JsonObject {
  const schemas = new Schemas(isClosed);
  const paths: JsonObject = {};
  for (const [route, needs] of routes) {
    const [method = "", target = ""] = route.split(" ");
    const path = target.slice(basePath.length);
    const operation = OPERATIONS[`${method} ${path}`];
    if (operation === undefined) continue;
    const at = path.replaceAll(/:(\w+)/g, "{$1}");
    paths[at] = { ...objectAt(paths, at), [method.toLowerCase()]: operationOf(operation, needs, schemas) };
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "acp-hub",
      version,
      description:
        "The HTTP API of a hub. The WebSocket `GET /acp` speaks the Agent Client Protocol: docs/protocol.md. Answers only grow: ignore members you do not know. HEAD stands beside every GET but `/api/events`.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: basePath === "" ? "/" : basePath }],
    paths,
    components: {
      schemas: schemas.named,
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
        appCookie: {
          type: "apiKey",
          in: "cookie",
          name: "acp-hub-8377",
          description: "acp-hub-<port>, for the hub's own app.",
        },
        appKey: { type: "apiKey", in: "header", name: "X-Acp-Hub-Key", description: "Beside the cookie." },
      },
    },
  };
}

function operationOf(operation: Operation, needs: Requirement | undefined, schemas: Schemas): JsonObject {
  const { summary, description, path = [], query = [], headers = [], body, answers } = operation;
  const parameters = [
    ...path.map((each) => parameterOf(each, "path", schemas)),
    ...query.map((each) => parameterOf(each, "query", schemas)),
    ...headers.map((each) => parameterOf(each, "header", schemas)),
  ];
  const scopes = [...new Set((needs ?? []).flat())];
  return {
    summary,
    ...(description !== undefined && { description }),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: { required: true, content: { "application/json": { schema: schemas.of(body) } } },
    }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, answerOf(answer, schemas)])),
      default: {
        description: "What was wrong.",
        content: { "application/problem+json": { schema: schemas.of(problem) } },
      },
    },
    security: needs === undefined ? [] : [{ bearer: scopes }, { appCookie: [], appKey: [] }],
  };
}

function parameterOf(
  { name, schema, isRequired, description }: Parameter,
  place: string,
  schemas: Schemas,
): JsonObject {
  return {
    name,
    in: place,
    ...(isRequired === true && { required: true }),
    ...(description !== undefined && { description }),
    schema: schemas.of(schema),
  };
}

function answerOf({ description, content = {}, headers = {} }: Answer, schemas: Schemas): JsonObject {
  const types = Object.entries(content).map(([type, schema]): [string, Json] => [type, { schema: schemas.of(schema) }]);
  const fields = Object.entries(headers).map(([name, words]): [string, Json] => [
    name,
    { description: words, schema: { type: "string" } },
  ]);
  return {
    description,
    ...(fields.length > 0 && { headers: Object.fromEntries(fields) }),
    ...(types.length > 0 && { content: Object.fromEntries(types) }),
  };
}

/** JSON Schemas of our own schemas; those with a name become components. */
class Schemas {
  readonly named: JsonObject = {};
  readonly #io: "input" | "output";

  constructor(isClosed: boolean) {
    this.#io = isClosed ? "output" : "input";
  }

  of(schema: z.ZodType): JsonObject {
    const { $schema: _dialect, $defs = {}, ...rest } = z.toJSONSchema(schema, { io: this.#io }) as JsonObject;
    for (const [id, each] of Object.entries($defs as JsonObject)) this.named[id] = withoutId(pointed(each));
    return pointed(rest) as JsonObject;
  }
}

/** Names lead to the document's components. */
const pointed = (value: Json | undefined): Json =>
  JSON.parse(JSON.stringify(value ?? null).replaceAll('"#/$defs/', '"#/components/schemas/')) as Json;

function withoutId(value: Json): Json {
  const { id: _id, ...rest } = value as JsonObject;
  return rest;
}
