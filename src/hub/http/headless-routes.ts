/** Starting and ending instances without an editor (contract §3). */
import type { HeadlessInstances, HeadlessRefusal } from "../headless.ts";
import { newInstanceBody } from "./api/bodies.ts";
import type { Routes } from "./app.ts";
import { CREATE } from "./needs.ts";
import { Problem } from "./problem.ts";
import { readBody } from "./read-body.ts";

const REFUSALS: Readonly<Record<HeadlessRefusal, readonly [number, string]>> = {
  off: [403, "Starting instances is off: set create.roots in the hub's configuration"],
  outside: [403, "This workspace is not inside the configured create.roots"],
  "no-profile": [403, "There is no such agent profile: the hub knows zcode, demo and those of its configuration"],
  "too-many": [429, "As many instances without an editor are running as limits.headlessMax allows"],
  timeout: [504, "The instance did not come up"],
  "not-headless": [403, "This instance belongs to an editor: it ends with its editor"],
  unknown: [404, "No such instance"],
};

const problem = (refusal: HeadlessRefusal): Problem => {
  const [status, words] = REFUSALS[refusal];
  return new Problem(status, words, { code: refusal });
};

export function headlessRoutes(headless: HeadlessInstances): Routes {
  return (app) => {
    app.post("/api/instances", CREATE, async (request, reply) => {
      const { workspacePath, agent } = readBody(newInstanceBody, request);
      const answer = await headless.create(workspacePath, agent);
      if ("refusal" in answer) throw problem(answer.refusal);
      return reply.code(201).send(answer);
    });
    app.delete<{ Params: { id: string } }>("/api/instances/:id", CREATE, (request, reply) => {
      const refusal = headless.end(request.params.id);
      if (refusal !== undefined) throw problem(refusal);
      return reply.code(204).send();
    });
  };
}
