/** Reads a request's JSON body with a schema. What is wrong with it is a 400 that names the member. */
import type { FastifyRequest } from "fastify";
import type { z } from "zod";
import { isObject } from "../../protocol/json.ts";
import { Problem } from "./problem.ts";

export function readBody<Schema extends z.ZodType>(schema: Schema, request: FastifyRequest): z.output<Schema> {
  if (!isObject(request.body)) throw new Problem(400, "The body must be a JSON object");
  const parsed = schema.safeParse(request.body);
  if (parsed.success) return parsed.data;
  throw new Problem(400, parsed.error.issues[0]?.message ?? "The body is not what this route takes");
}
