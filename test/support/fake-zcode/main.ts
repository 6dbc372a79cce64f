/**
 * The fake as a process: `zcode app-server --stdio`. `FAKE_ZCODE_SCENARIO` names the scenario file, `FAKE_ZCODE_RECORD`
 * the file that gets every frame and violation, one JSON object per line.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { FakeZcode } from "./fake.ts";
import type { Scenario } from "./scenario.ts";

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
  const path = process.env["FAKE_ZCODE_SCENARIO"];
  const scenario = path === undefined ? {} : (JSON.parse(readFileSync(path, "utf8")) as Scenario);
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
