/**
 * The fake as a process: `zcode app-server --stdio`. `FAKE_ZCODE_SCENARIO` names the scenario file, `FAKE_ZCODE_RECORD`
 * the file that gets every frame and violation, one JSON object per line, `FAKE_ZCODE_GATES` the file a test writes the
 * names of opened gates to, one per line, and `FAKE_ZCODE_STORE` where sessions outlive the process.
 */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { FakeZcode } from "./fake.ts";
import type { Scenario, StoredSession } from "./scenario.ts";

const clock = {
  now: () => Date.now(),
  setTimeout(run: () => void, ms: number): () => void {
    const handle = setTimeout(run, ms);
    return () => clearTimeout(handle);
  },
};

function record(entry: unknown): void {
  const path = process.env["FAKE_ZCODE_RECORD"];
  if (path !== undefined) appendFileSync(path, `${JSON.stringify(entry)}\n`);
}

function readText(path: string | undefined): string | undefined {
  try {
    return path === undefined ? undefined : readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

const GATES_EVERY_MS = 15;

/** Opens each gate the test names, once. */
function watchGates(fake: FakeZcode): void {
  const path = process.env["FAKE_ZCODE_GATES"];
  let opened = 0;
  const look = (): void => {
    // The last one is empty, or half written.
    const names = (readText(path) ?? "").split("\n").slice(0, -1);
    for (const name of names.slice(opened)) fake.go(name);
    opened = names.length;
  };
  look();
  setInterval(look, GATES_EVERY_MS).unref();
}

/** The scenario, with the sessions an earlier process left behind. */
function readScenario(): Scenario {
  const scenario = JSON.parse(readText(process.env["FAKE_ZCODE_SCENARIO"]) ?? "{}") as Scenario;
  const stored = readText(process.env["FAKE_ZCODE_STORE"]);
  return stored === undefined ? scenario : { ...scenario, sessions: JSON.parse(stored) as StoredSession[] };
}

function keepSessions(fake: FakeZcode): void {
  const path = process.env["FAKE_ZCODE_STORE"];
  if (path === undefined) return;
  const sessions: StoredSession[] = [...fake.sessions.values()].map((session) => ({
    sessionId: session.id,
    cwd: session.cwd,
    title: session.title,
    messages: session.messages,
    updatedAt: session.updatedAt,
  }));
  writeFileSync(path, JSON.stringify(sessions));
}

function main(): void {
  const { argv } = process;
  if (argv.includes("--version")) {
    process.stdout.write("zcode 0.0.0-fake\n");
    return;
  }
  if (argv[2] !== "app-server" || argv[3] !== "--stdio") {
    process.stderr.write("usage: zcode app-server --stdio\n");
    process.exitCode = 2;
    return;
  }
  const scenario = readScenario();
  record({ started: process.pid, args: argv.slice(2) });
  const fake = new FakeZcode(scenario, {
    clock,
    env: process.env,
    write(line) {
      record({ out: line });
      process.stdout.write(`${line}\n`);
    },
    exit(code) {
      process.stderr.write(`fake zcode ends with ${code}\n`);
      process.exit(code);
    },
  });
  process.on("exit", () => keepSessions(fake));
  process.on("SIGTERM", () => process.exit(0));
  watchGates(fake);
  let seen = 0;
  let rest = "";
  process.stdin.setEncoding("utf8");
  process.stdin.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      record({ in: line });
      fake.receive(line);
      for (const violation of fake.violations.slice(seen)) record({ violation });
      seen = fake.violations.length;
    }
  });
  process.stdin.on("end", () => process.exit(0));
}

main();
