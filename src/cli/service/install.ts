/** Installs and removes the service, so that the machine is either served as wanted or as it was before. */
import { chmod, mkdir, readFile, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { ServicePlan } from "./plan.ts";
import type { Supervisor } from "./supervisor.ts";

export interface InstallPorts {
  readonly supervisor: Supervisor;
  /** Pid of the hub that answers on the local socket as ready. */
  readyPid(): Promise<number | undefined>;
  /** Ends a hub that is not the service's: it holds the lock and the port. */
  stopHub(): Promise<void>;
  say(text: string): void;
  readonly clock: { now(): number; sleep(ms: number): Promise<void> };
}

export type InstallResult = "unchanged" | "installed" | "updated";

const READY_MS = 20_000;
const LOOK_MS = 250;

/** Rejects with words after putting everything back. */
export async function installService(ports: InstallPorts, plan: ServicePlan): Promise<InstallResult> {
  const { supervisor } = ports;
  const text = supervisor.render(plan);
  const before = await readFile(supervisor.file, "utf8").catch(() => undefined);
  const status = await supervisor.status();
  const pid = await ports.readyPid();
  if (before === text && status.isRunning && pid !== undefined && pid === status.pid) return "unchanged";
  if (pid !== undefined && pid !== status.pid) {
    ports.say(`A hub runs already (pid ${pid}): it makes room for the service. Editors and agents go on.`);
    await ports.stopHub();
  }
  try {
    await writeUnit(supervisor.file, text);
    await mkdir(dirname(plan.logFile), { recursive: true, mode: 0o700 });
    await supervisor.start();
    await untilReady(ports);
  } catch (error) {
    await rollBack(ports, before);
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${reason}\n${wordsAfterRollBack(before)}\nIts log: ${supervisor.logHint(plan)}`, { cause: error });
  }
  return before === undefined ? "installed" : "updated";
}

/** True when there was anything to remove. */
export async function uninstallService({ supervisor }: Pick<InstallPorts, "supervisor">): Promise<boolean> {
  const { isInstalled, isRunning } = await supervisor.status();
  if (!isInstalled && !isRunning) return false;
  await supervisor.stop();
  await removeUnit(supervisor);
  return true;
}

async function untilReady({ supervisor, readyPid, clock }: InstallPorts): Promise<void> {
  const deadline = clock.now() + READY_MS;
  for (;;) {
    const [pid, status] = [await readyPid(), await supervisor.status()];
    // A hub that answers but is another's would hide that ours does not start.
    if (pid !== undefined && pid === status.pid) return;
    if (clock.now() >= deadline)
      throw new Error(`The service did not become ready within ${READY_MS / 1000} s (${status.detail})`);
    await clock.sleep(LOOK_MS);
  }
}

async function rollBack({ supervisor, say }: InstallPorts, before: string | undefined): Promise<void> {
  try {
    await supervisor.stop();
    if (before === undefined) {
      await removeUnit(supervisor);
    } else {
      await writeUnit(supervisor.file, before);
      await supervisor.start();
    }
  } catch (error) {
    say(`Putting things back failed too: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const wordsAfterRollBack = (before: string | undefined): string =>
  before === undefined ? "Nothing was left installed." : "The service as it was before is back.";

/** Whole or not at all. Supervisors refuse or warn about files others can write. */
async function writeUnit(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const temporary = `${file}.${process.pid}`;
  await writeFile(temporary, text, { mode: 0o644, flush: true });
  await chmod(temporary, 0o644);
  await rename(temporary, file);
}

async function removeUnit(supervisor: Supervisor): Promise<void> {
  await rm(supervisor.file, { force: true });
  // One that is not empty stays, and so do those around it.
  for (const dir of supervisor.dirs) await rmdir(dir).catch(() => undefined);
  await supervisor.forget();
}
