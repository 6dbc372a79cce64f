import { expect, test } from "vitest";
import { decodeBinary, readMessages } from "../../../src/transport/ws-messages.ts";

const summary = (text: string) =>
  readMessages(text).map((parsed) => (parsed.ok ? parsed.frame.text : parsed.reply.error.code));

const one = '{"jsonrpc":"2.0","method":"a","params":{"text":"x\\ny"}}';
const two = '{"jsonrpc":"2.0","id":0,"method":"b"}';

test("T1 several messages in one frame are split at their line ends", () => {
  expect(summary(`${one}\n${two}`)).toEqual([one, two]);
  expect(summary(`${one}\r\n\r\n${two}\r\n`)).toEqual([one, two]);
});

test("T1 one message with a trailing line end is one message, and its text has none", () => {
  expect(summary(`${one}\n`)).toEqual([one]);
});

test("T1 a message written over several lines is parsed whole and goes on as one line", () => {
  const [parsed] = readMessages(JSON.stringify(JSON.parse(one), null, 2));
  if (!parsed?.ok) throw new Error("refused");
  expect(parsed.frame.text).not.toMatch(/[\r\n]/);
  expect(JSON.parse(parsed.frame.text)).toEqual(JSON.parse(one));
});

test("T1 a batch over several lines is refused as a batch, not split", () => {
  expect(summary(`[\n${one},\n${two}\n]`)).toEqual([-32600]);
});

test("T1 junk among good lines is refused alone", () => {
  expect(summary(`${one}\njunk\n${two}`)).toEqual([one, -32700, two]);
  expect(summary("junk")).toEqual([-32700]);
});

test("T1 binary frames are UTF-8, and bytes that are none are replaced", () => {
  expect(decodeBinary(Buffer.from("é\u2028"))).toBe("é\u2028");
  expect(decodeBinary(Buffer.from([0x61, 0xff, 0x62]))).toBe("a\ufffdb");
});
