import { expect, test } from "vitest";
import { parseFrame, type RpcResponse } from "../../../src/protocol/envelope.ts";

const answer = (members: string): RpcResponse => {
  const parsed = parseFrame(`{"jsonrpc":"2.0","id":7,${members}}`);
  if (!parsed.ok || parsed.frame.kind !== "response") throw new Error("refused");
  expect(JSON.parse(parsed.frame.text)).toEqual(parsed.frame.msg);
  return parsed.frame.msg;
};

test("T1 an answer that spells out the member it does not have is an answer, and is not lost", () => {
  expect(answer('"result":{"a":1},"error":null')).toEqual({ jsonrpc: "2.0", id: 7, result: { a: 1 } });
  const error = { code: -32000, message: "no" };
  expect(answer(`"result":null,"error":${JSON.stringify(error)}`)).toEqual({ jsonrpc: "2.0", id: 7, error });
  expect(answer('"result":null,"error":null')).toEqual({ jsonrpc: "2.0", id: 7, result: null });
  // A result that is nothing, as JavaScript writes it.
  expect(answer('"_meta":{}')).toEqual({ jsonrpc: "2.0", id: 7, _meta: {}, result: null });
});

test("T1 an error that is told badly is an error all the same: whoever asked would wait for ever", () => {
  expect(answer('"error":{"code":-32000}')).toMatchObject({ error: { code: -32000, message: "" } });
  expect(answer('"error":{"message":"no","data":1}')).toMatchObject({
    error: { code: -32603, message: "no", data: 1 },
  });
  expect(answer('"error":"no"')).toMatchObject({ error: { code: -32603, message: "no" } });
  expect(answer('"error":null')).toMatchObject({ error: { code: -32603 } });
  expect(answer('"result":1,"error":{"code":1,"message":"no"}')).toMatchObject({ error: { code: 1, message: "no" } });
});

test("T1 params of null are no params: a request that was refused for them would never be answered", () => {
  const parsed = parseFrame('{"jsonrpc":"2.0","id":1,"method":"logout","params":null}');
  expect(parsed).toMatchObject({
    ok: true,
    frame: { kind: "request", text: '{"jsonrpc":"2.0","id":1,"method":"logout"}' },
  });
  expect(parseFrame('{"jsonrpc":"2.0","method":"x","params":"y"}')).toMatchObject({
    ok: false,
    reply: { error: { code: -32600 } },
  });
});
