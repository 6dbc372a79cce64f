/** Holds answers of the HTTP API against the OpenAPI document, closed: a member that is not documented is a fault too. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { openApiDocument } from "../../src/hub/http/api/document.ts";
import { type JsonObject, objectAt } from "../../src/protocol/json.ts";
import type { Requirement } from "../../src/protocol/scopes.ts";
import type { Answer } from "./raw-http.ts";

export class ApiChecker {
  readonly document: JsonObject;
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });

  constructor(routes: ReadonlyMap<string, Requirement | undefined>) {
    this.document = openApiDocument({ version: "0.0.0", routes, isClosed: true });
    this.#ajv.addSchema(this.document, "api");
  }

  /** What is wrong with the answer of this route (`GET /api/devices/:id`), in words; empty when nothing is. */
  faults(route: string, answer: Pick<Answer, "status" | "headers" | "text">): string[] {
    const [method = "", path = ""] = route.split(" ");
    const at = path.replaceAll(/:(\w+)/g, "{$1}");
    const operation = objectAt(objectAt(objectAt(this.document, "paths"), at), method.toLowerCase());
    if (operation === undefined) return [`${route} is not documented`];
    const responses = objectAt(operation, "responses") ?? {};
    const status = String(answer.status) in responses ? String(answer.status) : "default";
    if (status === "default" && answer.status < 400)
      return [`${route} answered ${answer.status}, which is not documented`];
    const content = objectAt(objectAt(responses, status), "content");
    if (content === undefined) return answer.text === "" ? [] : [`${route} ${status} answered a body`];
    const type = String(answer.headers["content-type"] ?? "").split(";")[0] ?? "";
    const known = Object.keys(content).find(
      (each) => each === type || (each === "image/*" && type.startsWith("image/")),
    );
    if (known === undefined)
      return [`${route} ${answer.status} is ${type}, documented are ${Object.keys(content).join(", ")}`];
    const steps = ["paths", at, method.toLowerCase(), "responses", status, "content", known, "schema"];
    const $ref = `api#/${steps.map((step) => encodeURIComponent(step.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/")}`;
    const validate = this.#ajv.compile({ $ref });
    if (validate(type.endsWith("json") ? JSON.parse(answer.text) : answer.text)) return [];
    return (validate.errors ?? []).map(
      (error) => `${route} ${answer.status}: ${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`,
    );
  }
}
