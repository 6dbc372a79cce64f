/** Builds the fake into one runnable file: a `zcode` for PATH or `ZCODE_BIN`. */
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { wholeLines } from "../whole-lines.ts";
import type { Scenario } from "./scenario.ts";

export interface FakeExecutable {
  /** The program; runs under the Node of this process. */
  readonly bin: string;
  /** Environment that makes it play `scenario` and record what it sees. */
  readonly env: Readonly<Record<string, string>>;
  /** Everything recorded so far. */
  records(): readonly FakeRecord[];
  /** Violations seen so far, of every start. */
  violations(): string[];
  /** Opens a gate a script waits at (`until`), in this start and every later one. */
  go(name: string): void;
}

export interface FakeRecord {
  readonly in?: string;
  readonly out?: string;
  readonly violation?: string;
  readonly started?: number;
  readonly args?: readonly string[];
}

/** Writes the program and its scenario into `dir` (a fresh temporary one by default). */
export function fakeExecutable(
  scenario: Scenario,
  dir: string = mkdtempSync(join(tmpdir(), "fake-zcode-")),
): FakeExecutable {
  mkdirSync(dir, { recursive: true });
  const entry = join(dirname(fileURLToPath(import.meta.url)), "main.ts");
  const script = join(dir, "fake-zcode.bundle.cjs");
  buildSync({
    entryPoints: [entry],
    outfile: script,
    bundle: true,
    platform: "node",
    format: "cjs",
    logLevel: "error",
  });
  const bin = join(dir, "zcode");
  writeFileSync(bin, `#!/bin/sh\nexec "${process.execPath}" "${script}" "$@"\n`);
  chmodSync(bin, 0o755);
  const scenarioPath = join(dir, "scenario.json");
  const recordPath = join(dir, "record.ndjson");
  writeFileSync(scenarioPath, JSON.stringify(scenario));
  const gatesPath = join(dir, "gates");
  writeFileSync(recordPath, "");
  writeFileSync(gatesPath, "");
  const records = (): FakeRecord[] => wholeLines(recordPath).map((line) => JSON.parse(line) as FakeRecord);
  return {
    bin,
    env: {
      FAKE_ZCODE_SCENARIO: scenarioPath,
      FAKE_ZCODE_RECORD: recordPath,
      FAKE_ZCODE_GATES: gatesPath,
      FAKE_ZCODE_STORE: join(dir, "store.json"),
    },
    records,
    violations: () => records().flatMap((entry) => (entry.violation === undefined ? [] : [entry.violation])),
    go: (name) => appendFileSync(gatesPath, `${name}\n`),
  };
}
