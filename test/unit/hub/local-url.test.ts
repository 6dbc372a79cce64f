import { expect, test } from "vitest";
import { hostAndPort, localUrl } from "../../../src/hub/local-url.ts";

test("C1.address an address of version 6 stands in brackets, whoever brought it", () => {
  expect(localUrl("::1", 8377, "", false)).toBe("http://[::1]:8377");
  expect(localUrl("[::1]", 8377, "/hub", true)).toBe("https://[::1]:8377/hub");
  expect(localUrl("fd00::7", 1, "", false)).toBe("http://[fd00::7]:1");
  expect(hostAndPort("fd00::7", 8377)).toBe("[fd00::7]:8377");
  expect(hostAndPort("192.0.2.7", 8377)).toBe("192.0.2.7:8377");
});

test("C1.address what listens on every address is opened here by loopback", () => {
  for (const host of ["0.0.0.0", "::", "[::]"]) expect(localUrl(host, 8377, "", false)).toBe("http://127.0.0.1:8377");
  expect(localUrl("hub.example", 8377, "", false)).toBe("http://hub.example:8377");
});
