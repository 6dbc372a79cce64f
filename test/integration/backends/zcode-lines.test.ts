/** How long a line of ZCode's process may be: as long as any agent's, and as the profile says. */
import { afterEach, expect, test } from "vitest";
import { childStarter, type ZcodeChild } from "../../../src/backends/zcode/process/child.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";

let child: ZcodeChild | undefined;
afterEach(() => child?.stop());

/** What a process that says a line of so many bytes, and a short one, is heard to say; and what is logged. */
function heard(bytes: number, lineBytes?: number): Promise<{ lines: number[]; dropped: unknown[] }> {
  const program = `process.stdout.write("x".repeat(${bytes}) + "\\nend\\n")`;
  const spec = { command: process.execPath, args: ["-e", program], env: process.env };
  const lines: number[] = [];
  const dropped: unknown[] = [];
  const start = childStarter((_level, _message, fields) => void dropped.push(fields?.["bytes"]), {
    hasWatchdog: false,
    ...(lineBytes !== undefined && { lineBytes }),
  });
  return new Promise((resolve) => {
    child = start(spec, {
      onLine: (line) => void lines.push(line.length),
      onExit: () => resolve({ lines, dropped }),
    });
  });
}

test("T2 C6.limits a line too long to be shared reaches the editor, from ZCode as from any agent", async () => {
  const bytes = LIMITS.agentLineBytes + 1;
  expect(await heard(bytes)).toEqual({ lines: [bytes, 3], dropped: [] });
});

test("C6.limits zcode.lineBytes: a longer line is dropped and told, and the next one is heard", async () => {
  expect(await heard(2_001, 2_000)).toEqual({ lines: [3], dropped: [2_001] });
  expect(await heard(2_000, 2_000)).toEqual({ lines: [2_000, 3], dropped: [] });
});
