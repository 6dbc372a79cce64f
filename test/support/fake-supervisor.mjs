#!/usr/bin/env node
// Stands for systemctl, loginctl and launchctl, by the name it is run under. Records every call, and really runs what the unit
// says, with the environment the unit gives. Its memory is the directory FAKE_SUPERVISOR_DIR.
import { spawn } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

const dir = process.env.FAKE_SUPERVISOR_DIR;
const tool = basename(process.argv[1]);
const args = process.argv.slice(2);
appendFileSync(join(dir, "calls"), `${tool} ${args.join(" ")}\n`);

const pidFile = join(dir, "pid");
const has = (flag) => existsSync(join(dir, flag));
const pid = () => (existsSync(pidFile) ? Number(readFileSync(pidFile, "utf8")) : 0);
const isRunning = () => {
  const stat = (() => {
    try {
      return readFileSync(`/proc/${pid()}/stat`, "utf8");
    } catch {
      return "";
    }
  })();
  return pid() > 0 && stat !== "" && !/\) Z/.test(stat);
};

const end = async () => {
  if (isRunning()) process.kill(pid(), "SIGTERM");
  while (isRunning()) await new Promise((resolve) => setTimeout(resolve, 10));
  rmSync(pidFile, { force: true });
};

const begin = ([command, ...rest], path) => {
  const child = spawn(command, rest, { detached: true, stdio: "ignore", env: { PATH: path, HOME: process.env.HOME } });
  child.unref();
  writeFileSync(pidFile, String(child.pid));
};

/** systemd's words: quoted, with \\ and \" and doubled %% and $$. */
const unitWords = (line) =>
  [...line.matchAll(/"((?:\\.|[^"\\])*)"|(\S+)/g)].map((match) =>
    (match[1] ?? match[2]).replace(/\\(.)/g, "$1").replaceAll("%%", "%").replaceAll("$$", "$"),
  );

const unitFile = join(process.env.HOME, ".config/systemd/user/acp-hub.service");
const wants = join(process.env.HOME, ".config/systemd/user/default.target.wants");

async function systemctl([, verb]) {
  if (has("no-bus")) {
    console.error("Failed to connect to bus: No medium found");
    return 1;
  }
  if (verb === "enable") {
    mkdirSync(wants, { recursive: true });
    writeFileSync(join(wants, "acp-hub.service"), "");
  } else if (verb === "restart") {
    await end();
    const unit = readFileSync(unitFile, "utf8");
    const [path] = unitWords(/^Environment=(.*)$/m.exec(unit)[1]);
    begin(unitWords(/^ExecStart=(.*)$/m.exec(unit)[1]), path.replace(/^PATH=/, ""));
  } else if (verb === "disable") {
    await end();
    rmSync(join(wants, "acp-hub.service"), { force: true });
    if (existsSync(wants) && readdirSync(wants).length === 0) rmdirSync(wants);
  } else if (verb === "show") {
    const state = isRunning() ? "active" : "inactive";
    console.log(
      `ActiveState=${state}\nSubState=${state === "active" ? "running" : "dead"}\nMainPID=${isRunning() ? pid() : 0}\nResult=success`,
    );
  }
  return 0;
}

async function launchctl([verb, target, file]) {
  if (verb === "print" && target.split("/").length === 2) return 0;
  if (verb === "print") {
    if (!existsSync(pidFile)) return 113;
    console.log(isRunning() ? `\tstate = running\n\tpid = ${pid()}` : "\tstate = not running\n\tlast exit code = 1");
    return 0;
  }
  if (verb === "bootout") {
    if (!existsSync(pidFile)) return 3;
    await end();
  } else if (verb === "bootstrap") {
    if (has("busy")) {
      rmSync(join(dir, "busy"));
      console.error("Bootstrap failed: 5: Input/output error");
      return 5;
    }
    const plist = readFileSync(file, "utf8");
    const array = /<key>ProgramArguments<\/key>\s*<array>([\s\S]*?)<\/array>/.exec(plist)[1];
    const text = (xml) =>
      xml.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&");
    const words = [...array.matchAll(/<string>([^<]*)<\/string>/g)].map((match) => text(match[1]));
    begin(words, text(/<key>PATH<\/key>\s*<string>([^<]*)</.exec(plist)[1]));
  }
  return 0;
}

const loginctl = () => {
  console.log(`Linger=${has("linger") ? "yes" : "no"}`);
  return 0;
};

mkdirSync(dirname(pidFile), { recursive: true });
process.exitCode = await { systemctl, launchctl, loginctl }[tool](args);
