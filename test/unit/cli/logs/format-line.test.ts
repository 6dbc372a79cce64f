import { describe, expect, it } from "vitest";
import { formatLine } from "../../../../src/cli/logs/format-line.ts";

const time = new Date(2026, 0, 31, 14, 2, 3).getTime();

describe("a log line", () => {
  it("C1.daemon is read as time, level, source, message and fields", () => {
    const line = JSON.stringify({
      level: 40,
      time,
      pid: 7,
      route: "/api",
      status: 403,
      list: [1],
      msg: "request refused",
    });
    expect(formatLine("hub", line)).toEqual({
      time,
      text: "2026-01-31 14:02:03 warn  hub request refused route=/api status=403 list=[1]",
    });
    expect(formatLine("bridge", JSON.stringify({ time, level: "info", msg: "link up" })).text).toContain(
      "info  bridge link up",
    );
  });

  it("C1.daemon that is no JSON, or steers a terminal, is shown harmless", () => {
    expect(formatLine("service", "plain \u001b[31mred")).toEqual({ time: undefined, text: "service: plain  [31mred" });
    expect(formatLine("hub", JSON.stringify({ time, msg: "a\nb", name: "\u001b]0;x" })).text).toContain(
      "a b name= ]0;x",
    );
    expect(formatLine("hub", "[1]").time).toBeUndefined();
  });
});
