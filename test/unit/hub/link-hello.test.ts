import { describe, expect, test } from "vitest";
import { readHello } from "../../../src/hub/link-hello.ts";
import type { JsonObject } from "../../../src/protocol/json.ts";

const hello: JsonObject = {
  protocol: 1,
  features: ["a", 2],
  bridgeVersion: "0.1.0",
  instanceId: "i",
  pid: 7,
  startedAt: 1_000,
  workspace: "/work",
  name: "demo",
  origin: "editor",
};

describe("a bridge's hello", () => {
  test("C7.hello is read with what a newer bridge adds", () => {
    expect(readHello({ ...hello, agent: "demo", sessions: [], later: { x: 1 } })).toEqual({
      ...hello,
      features: ["a"],
      agent: "demo",
      sessions: [],
      later: { x: 1 },
    });
  });

  test.each(["protocol", "instanceId", "bridgeVersion", "workspace", "name", "pid", "startedAt", "origin"])(
    "C7.hello without a sound %s it is refused by that name",
    (key) => {
      const words = key === "protocol" ? /link protocol 1/ : new RegExp(`^"${key}" must be`);
      expect(readHello({ ...hello, [key]: {} })).toMatch(words);
      const { [key]: _gone, ...without } = hello;
      expect(readHello(without)).toMatch(words);
    },
  );

  test("C7.hello what is not needed and makes no sense is left out, and breaks nothing", () => {
    const live = { sessionId: "s", epoch: "e", cwd: "/work" };
    const read = readHello({
      ...hello,
      proof: 1,
      remoteToken: {},
      agent: null,
      features: "all",
      sessions: [live, { sessionId: "s" }, null, "x"],
    });
    expect(read).toEqual({ ...hello, features: [], sessions: [live] });
    expect(readHello({ ...hello, sessions: 3 })).toMatchObject({ sessions: [] });
    expect(readHello(undefined)).toBe("hello needs parameters");
  });
});
