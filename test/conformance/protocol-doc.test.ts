/** `docs/protocol.md` says what the code does: every example is read as the wire would read it, every table is the code's. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { CLOSE } from "../../src/protocol/close-codes.ts";
import { type Frame, paramsOf, parseFrame } from "../../src/protocol/envelope.ts";
import { RPC } from "../../src/protocol/errors.ts";
import { FEATURES, HUB } from "../../src/protocol/hub-methods.ts";
import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../src/protocol/json.ts";
import { LINK_PROTOCOL } from "../../src/protocol/link.ts";
import { hubMeta, readBy, readCursor, readStamp } from "../../src/protocol/meta.ts";
import { SCOPES } from "../../src/protocol/scopes.ts";

const doc = readFileSync("docs/protocol.md", "utf8");
const blocks = [...doc.matchAll(/```json\n([\s\S]*?)```/g)].map((match) => match[1] ?? "");
const values = blocks.map((text) => JSON.parse(text) as JsonObject);
const frames: Frame[] = blocks.flatMap((text) => {
  const parsed = "jsonrpc" in (JSON.parse(text) as object) ? parseFrame(text) : undefined;
  if (parsed === undefined) return [];
  if (!parsed.ok) throw new Error(`${parsed.reply.error.message}: ${text}`);
  return [parsed.frame];
});
const framesOf = (method: string): JsonObject[] =>
  frames.flatMap((frame) => ("method" in frame.msg && frame.msg.method === method ? [paramsOf(frame.msg) ?? {}] : []));

/** The payload of each frame of the extension: what has to be in it (contract §4). */
const PAYLOADS: Readonly<Record<string, (params: JsonObject) => boolean>> = {
  [HUB.turn]: (params) =>
    ["running", "idle", "waiting"].includes(stringAt(params, "state") ?? "") &&
    readStamp(params) !== undefined &&
    readBy(params["by"]) !== undefined &&
    (arrayAt(params, "queue") ?? [null]).every(
      (entry) => isObject(entry) && readBy(entry["by"]) !== undefined && numberAt(entry, "queuedAt") !== undefined,
    ),
  [HUB.interactionSettled]: (params) =>
    readStamp(params) !== undefined &&
    readBy(params["by"]) !== undefined &&
    ["answered", "cancelled", "withdrawn", "ended"].includes(stringAt(objectAt(params, "outcome"), "action") ?? ""),
  [HUB.interactionRejected]: (params) =>
    typeof params["interactionId"] === "string" && typeof params["reason"] === "string",
  [HUB.presence]: (params) =>
    numberAt(params, "count") === arrayAt(params, "clients")?.length &&
    (arrayAt(params, "clients") ?? []).every((client) => readBy(client) !== undefined),
  [HUB.typing]: (params) => typeof params["typing"] === "boolean",
  [HUB.detached]: (params) => ["instance-gone", "closed", "superseded"].includes(stringAt(params, "reason") ?? ""),
  [HUB.reset]: (params) => typeof params["epoch"] === "string" && typeof params["reason"] === "string",
  [HUB.gap]: (params) => (numberAt(params, "from") ?? 1) <= (numberAt(params, "to") ?? 0),
  [HUB.loadEarlier]: (params) => numberAt(params, "before") !== undefined && numberAt(params, "limit") !== undefined,
  [HUB.queueList]: (params) => typeof params["sessionId"] === "string",
  [HUB.queueRemove]: (params) => typeof params["promptId"] === "string",
  [HUB.queueMove]: (params) => typeof params["promptId"] === "string" && numberAt(params, "index") === 0,
};

test("C4.extensions every method of the extension has an example with its payload, and no other does", () => {
  expect(Object.keys(PAYLOADS).sort()).toEqual(Object.values(HUB).sort());
  for (const [method, isWhole] of Object.entries(PAYLOADS)) {
    const examples = framesOf(method);
    expect(examples.length, method).toBeGreaterThan(0);
    for (const params of examples) {
      expect(isWhole(params), `${method} ${JSON.stringify(params)}`).toBe(true);
      if (!method.includes("rejected")) expect(typeof params["sessionId"], method).toBe("string");
    }
  }
  const named = new Set([...doc.matchAll(/_acp-hub\/[a-z_/]+[a-z]/g)].map(([name]) => name));
  expect([...named].filter((name) => !(Object.values(HUB) as string[]).includes(name))).toEqual([]);
});

test("C4.extensions every stamp, cursor and author in the examples is read as one", () => {
  let count = 0;
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const each of value) visit(each);
    if (!isObject(value)) return;
    if ("cursor" in value) expect(readCursor(value["cursor"]), JSON.stringify(value)).toBeDefined();
    if ("by" in value) expect(readBy(value["by"]), JSON.stringify(value)).toBeDefined();
    if ("_meta" in value && hubMeta(value)?.["seq"] !== undefined) expect(readStamp(value)).toBeDefined();
    if ("cursor" in value || "by" in value) count += 1;
    for (const member of Object.values(value)) visit(member);
  };
  visit(values);
  expect(count).toBeGreaterThan(5);
});

test("C4.initialize the example names the features there are, and the scopes by their names", () => {
  const result = values.map((value) => objectAt(value, "result")).find((value) => value?.["agentInfo"] !== undefined);
  expect(hubMeta(result)?.["features"]).toEqual([...FEATURES]);
  for (const scope of [...(arrayAt(hubMeta(result), "scopes") ?? [])]) expect(SCOPES).toContain(scope);
});

test("C4.close-codes the table is the one clients ask", () => {
  const rows = [...doc.matchAll(/^\| (\d{4}) \| (\S+) \| (\S+) \| (.+) \|$/gm)].map(
    ([, code, name, retry, meaning]) => ({
      code: Number(code),
      name,
      retry,
      meaning,
    }),
  );
  expect(rows).toEqual(Object.values(CLOSE).sort((a, b) => a.code - b.code));
});

test("C4.extensions the error codes are those of the code, numbers and names", () => {
  const rows = [...doc.matchAll(/^\| (-\d{5}) \| (\w+) \|$/gm)].map(([, code, name]) => [name, Number(code)]);
  expect(Object.fromEntries(rows)).toEqual(RPC);
  const union = /export type HubErrorCode =([\s\S]*?);/.exec(readFileSync("src/protocol/errors.ts", "utf8"))?.[1] ?? "";
  const listed = /`data\.code` is one of: ([\s\S]*?)\.\n/.exec(doc)?.[1] ?? "";
  const names = (text: string, quote: RegExp): string[] =>
    [...text.matchAll(quote)].map((match) => match[1] ?? "").sort();
  expect(names(listed, /`([^`]+)`/g)).toEqual(names(union, /"([^"]+)"/g));
  expect(doc).toContain(`a protocol number of its own (${LINK_PROTOCOL})`);
});
