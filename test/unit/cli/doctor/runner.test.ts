import { describe, expect, it } from "vitest";
import { type Check, fail, ok, warn } from "../../../../src/cli/doctor/finding.ts";
import { redactor } from "../../../../src/cli/doctor/redact.ts";
import { hasFailed, runChecks } from "../../../../src/cli/doctor/runner.ts";
import { reportOf } from "../../../../src/cli/doctor.ts";

const check = (id: string, run: Check<null>["run"]): Check<null> => ({ id, run });
const plain = { redact: (text: string) => text };

describe("the doctor's runner", () => {
  it("C1.daemon keeps the order, and one check that throws or hangs costs the others nothing", async () => {
    const checks = [
      check("slow", () => new Promise(() => undefined)),
      check("broken", () => Promise.reject(new Error("EIO"))),
      check("two", () => Promise.resolve([ok("fine"), warn("odd", "look")])),
    ];
    const findings = await runChecks(checks, null, { ...plain, limitMs: 5 });
    expect(findings.map(({ id, level, text }) => [id, level, text])).toEqual([
      ["slow", "warn", "this could not be checked: no result within 0.005 s"],
      ["broken", "warn", "this could not be checked: EIO"],
      ["two", "ok", "fine"],
      ["two", "warn", "odd"],
    ]);
  });

  it("C1.daemon runs only what is asked for", async () => {
    const checks = ["a", "b"].map((id) => check(id, () => Promise.resolve([ok(id)])));
    expect((await runChecks(checks, null, { ...plain, only: new Set(["b"]) })).map(({ id }) => id)).toEqual(["b"]);
  });

  it("C1.exit-codes a failure fails the whole, a warning does not", () => {
    expect(hasFailed([{ id: "a", ...warn("x", "y") }])).toBe(false);
    expect(hasFailed([{ id: "a", ...fail("x", "y") }])).toBe(true);
  });

  it("C1.daemon the report has a line per finding, what to do below it, and the counts", () => {
    expect(
      reportOf([
        { id: "node", ...ok("fine") },
        { id: "permissions", ...fail("open", "chmod") },
      ]),
    ).toBe(
      "ok    node         fine\nfail  permissions  open\n                   to do: chmod\n\n1 ok, 0 to look at, 1 failed\n",
    );
  });
});

describe("a report leaves without secrets", () => {
  const redact = redactor(
    { ACP_HUB_TOKEN: "short", MY_API_KEY: "sk-abcdefgh", SECRET_LONGER: "sk-abcdefgh-ij", PATH: "/usr/bin" },
    "/home/me",
  );

  it.each([
    ["token eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJkIn0.c2lnbmF0dXJl here", "token [token] here"],
    ["GET /acp?ticket=abc123&x=1", "GET /acp?ticket=[redacted]&x=1"],
    ["http://h/#pair=abcdef", "http://h/#pair=[redacted]"],
    ["Authorization: Bearer abcdefgh12", "Authorization: Bearer [redacted]"],
    ["proto bearer.abcdefgh12", "proto bearer.[redacted]"],
    ["https://user:pw@host/", "https://[redacted]@host/"],
    ["key sk-abcdefgh-ij and sk-abcdefgh", "key [redacted] and [redacted]"],
    ["/home/me/.config/acp-hub is short", "~/.config/acp-hub is short"],
  ])("%s", (text, clean) => {
    expect(redact(text)).toBe(clean);
  });
});
