/** One operation of the HTTP API as the OpenAPI document shows it. What it needs is not here: that is said where the route stands. */
import { z } from "zod";

export interface Operation {
  readonly summary: string;
  readonly description?: string;
  /** Parameters of the path, and of the query. */
  readonly path?: readonly Parameter[];
  readonly query?: readonly Parameter[];
  readonly headers?: readonly Parameter[];
  readonly body?: z.ZodType;
  /** Beside `default`, which is a problem. */
  readonly answers: Readonly<Record<number, Answer>>;
}

export interface Parameter {
  readonly name: string;
  readonly schema: z.ZodType;
  readonly isRequired?: boolean;
  readonly description?: string;
}

export interface Answer {
  readonly description: string;
  /** Type → schema; absent: no body. */
  readonly content?: Readonly<Record<string, z.ZodType>>;
  /** Name → what it says. Text, all of them. */
  readonly headers?: Readonly<Record<string, string>>;
}

export const json = (schema: z.ZodType, description: string): Answer => ({
  description,
  content: { "application/json": schema },
});

export const problemAnswer = (schema: z.ZodType, description: string): Answer => ({
  description,
  content: { "application/problem+json": schema },
});

export const nothing = (description: string): Answer => ({ description });

export const inPath = (name: string, description: string): Parameter => ({
  name,
  schema: z.string(),
  isRequired: true,
  description,
});

export const inQuery = (name: string, schema: z.ZodType, description: string): Parameter => ({
  name,
  schema,
  description,
});
