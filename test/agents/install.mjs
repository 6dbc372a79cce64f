/**
 * Installs real ACP agents from npm, each in a folder of its own: `node install.mjs [name ...]`, all of them without a name.
 * ACP_HUB_AGENTS_DIR says where. What is installed already costs one look. On stdout one JSON object per agent:
 * {name, dir, entry, runtime} when it can run here, {name, reason} when it cannot. Exit code 0 either way.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const PACKAGES = JSON.parse(readFileSync(new URL("./packages.json", import.meta.url), "utf8"));
const CACHE = fileURLToPath(new URL("../../node_modules/.cache/acp-hub-agents", import.meta.url));
const ROOT = process.env["ACP_HUB_AGENTS_DIR"] ?? CACHE;
/** For agents that want a newer Node than the one the tests run on. */
const NODE = { spec: "node@24", entry: "node_modules/node/bin/node", scripts: ["node"] };
const NEWER_NODE_MAJOR = 22;
const INSTALL_MS = 300_000;
const PROBE_MS = 60_000;

class Unavailable extends Error {}

/** Exact version in a folder of its own. A folder counts only once its stamp is written: an install can be cut off. */
function install(name, { spec, scripts }) {
  const dir = join(ROOT, name);
  const stamp = join(dir, "installed");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === spec) return dir;
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  // Newer npm runs the install scripts of packages listed here only; older ones run them all.
  const allowScripts = Object.fromEntries(scripts.map((each) => [each, true]));
  writeFileSync(join(dir, "package.json"), JSON.stringify({ private: true, allowScripts }));
  const args = ["install", "--no-audit", "--no-fund", "--no-update-notifier", "--save-exact", spec];
  const npm = spawnSync("npm", args, { cwd: dir, encoding: "utf8", timeout: INSTALL_MS, env: npmEnv() });
  if (npm.status !== 0) throw new Unavailable(`npm install ${spec}: ${lastLine(npm.stderr) || npm.error?.message}`);
  writeFileSync(stamp, spec);
  return dir;
}

/** Run from an npm script, npm finds settings of ours here that would make it install into our own folder. */
function npmEnv() {
  const isOurs = (name) =>
    /^npm_(config_(local_prefix|prefix|global)|package_|lifecycle_)/.test(name) || name === "INIT_CWD";
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOurs(name)));
}

function runtimeFor(runs) {
  if (runs === "native") return undefined;
  const major = Number(process.versions.node.split(".")[0]);
  if (runs === "node" || major >= NEWER_NODE_MAJOR) return process.execPath;
  const node = join(install("node24", NODE), NODE.entry);
  probe(node, ["--version"], "Node 24");
  return node;
}

/** Native parts are optional dependencies: npm succeeds without them, so only running one tells. */
function probe(command, args, what) {
  if (!existsSync(command)) throw new Unavailable(`${what} is missing: npm had no package of it for this machine`);
  const ran = spawnSync(command, args, { encoding: "utf8", timeout: PROBE_MS });
  if (ran.status !== 0) throw new Unavailable(`${what} does not run: ${ran.error?.message ?? lastLine(ran.stderr)}`);
}

function prepare(name) {
  const wanted = PACKAGES[name];
  if (wanted === undefined) throw new Unavailable("no such agent here");
  const runtime = runtimeFor(wanted.runs);
  const dir = install(name, wanted);
  const stamp = join(dir, "probed");
  if (wanted.probe !== undefined && !existsSync(stamp)) {
    const file = join(dir, wanted.probe.replace("{platform}", process.platform).replace("{arch}", process.arch));
    if (file.endsWith(".js")) probe(process.execPath, [file, "--version"], "its native part");
    else probe(file, ["--version"], "its native part");
    writeFileSync(stamp, "");
  }
  return { name, dir, entry: join(dir, wanted.entry), ...(runtime === undefined ? {} : { runtime }) };
}

const lastLine = (text) => (text ?? "").trim().split("\n").pop() ?? "";

const names = process.argv.slice(2);
for (const name of names.length > 0 ? names : Object.keys(PACKAGES)) {
  try {
    process.stdout.write(`${JSON.stringify(prepare(name))}\n`);
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    process.stdout.write(`${JSON.stringify({ name, reason: error.message })}\n`);
  }
}
