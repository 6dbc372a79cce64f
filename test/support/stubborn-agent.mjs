#!/usr/bin/env node
// An agent that is hard to end. It tells its pids in one notification and then does what its words say:
//   ignore-eof    stays when its input ends        ignore-term   stays on SIGTERM
//   grandchild    starts a process that ignores SIGTERM and holds the agent's pipes open
//   exit=N        exits with N at once             stderr=TEXT   writes TEXT and a line end on stderr first
//   env           tells its environment's names    bytes=N       writes N bytes of stderr without a line end first
import { spawn } from "node:child_process";

const words = new Set(process.argv.slice(2));
const wordValue = (name) => process.argv.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);

if (words.has("ignore-term")) process.on("SIGTERM", () => undefined);
const stderr = wordValue("stderr");
if (stderr !== undefined) process.stderr.write(`${stderr}\n`);
const bytes = wordValue("bytes");
if (bytes !== undefined) process.stderr.write("x".repeat(Number(bytes)));

const pids = [process.pid];
if (words.has("grandchild")) {
  const script =
    'process.on("SIGTERM", () => undefined); process.stdout.write("\\n"); setInterval(() => undefined, 1e6);';
  const child = spawn(process.execPath, ["-e", script], { stdio: "inherit" });
  pids.push(child.pid);
  child.unref();
}
const env = words.has("env") ? Object.keys(process.env) : undefined;
process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", method: "pids", params: { pids, env } })}\n`);

const exit = wordValue("exit");
if (exit !== undefined) process.exitCode = Number(exit);
else if (words.has("ignore-eof")) setInterval(() => undefined, 1e6);
if (exit === undefined) process.stdin.resume();
