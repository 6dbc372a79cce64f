/** Errors by code and text together, and the strict envelope. */
import { expect, test } from "vitest";
import { classify } from "../../../../../src/backends/zcode/rpc/errors.ts";
import { readFrame, requestLine } from "../../../../../src/backends/zcode/rpc/frames.ts";

const table: readonly (readonly [number, string, string])[] = [
  [-32010, "A prompt is already running for this session", "busy"],
  [-32010, "Cannot compact while a prompt is running", "busy"],
  [-32010, "Subagent sessions are read-only", "other"],
  [1308, "prompt is running", "busy"],
  [1308, "quota exceeded", "other"],
  [-32004, "Session is not active", "not-active"],
  [-32004, "Session not found: sess_1", "not-found"],
  [-32004, "Session ID 不存在", "not-found"],
  [-32601, "Method not found: session/steer", "no-method"],
  [-32602, "thoughtLevel is required", "invalid"],
  [-32600, 'Unrecognized key: "runtimeModel"', "invalid"],
  [-32031, "Provider runtime headers were not applied", "other"],
  [-32603, "boom", "other"],
];

test.each(table)("rows 65 H13 code %i with %j is %s", (code, message, kind) => {
  expect(classify({ code, message })).toBe(kind);
});

test("a request has no jsonrpc member, and ids come back as they were sent", () => {
  expect(requestLine(7, "session/read", { sessionId: "s" })).toBe(
    '{"id":7,"method":"session/read","params":{"sessionId":"s"}}',
  );
  expect(readFrame('{"id":"server-7","method":"x","params":{}}')).toEqual({
    kind: "request",
    id: "server-7",
    method: "x",
    params: {},
  });
  expect(readFrame('{"id":100,"method":"x"}')).toEqual({ kind: "request", id: 100, method: "x", params: {} });
  expect(readFrame('{"id":1,"result":null}')).toEqual({ kind: "result", id: 1, result: null });
  expect(readFrame('{"id":1,"error":{"code":5}}')).toMatchObject({ kind: "error", error: { code: 5 } });
});

test.each(["", "not json", "[1]", '{"half":', '{"result":1}', "3"])("noise %j is no frame", (line) => {
  expect(readFrame(line)).toBeUndefined();
});
