/**
 * Gives memory back when nothing happens. The engine collects when something allocates, so what starting took, or two thousand
 * phones that came back at once, would stay for as long as a hub is idle.
 */
import { Session } from "node:inspector";
import { type Scheduler, systemScheduler } from "../store/scheduler.ts";

/** The process as this sees it. */
export interface Memory {
  /** CPU time used so far, in milliseconds. */
  cpuMs(): number;
  /** What the heap has taken from the system, in bytes. */
  heapBytes(): number;
  /** Collects all garbage and returns free pages: one stop of some 50 ms. Resolves when it is done. */
  collect(): Promise<void>;
}

const EVERY_MS = 2500;
/** More CPU than this in one interval is work that a collection would hold up. */
const IDLE_CPU_MS = 10;
/** A heap that has grown by less is not worth the effort. */
const GROWTH_BYTES = 8_388_608;

/** Looks every few seconds; the returned function stops it. */
export function keepIdleSmall(memory: Memory = processMemory, scheduler: Scheduler = systemScheduler): () => void {
  let cpuMs = memory.cpuMs();
  let settledBytes = 0;
  let stop: () => void = () => undefined;
  let isStopped = false;
  const again = (): void => {
    cpuMs = memory.cpuMs();
    if (!isStopped) stop = scheduler.after(EVERY_MS, look);
  };
  const look = (): void => {
    const isIdle = memory.cpuMs() - cpuMs <= IDLE_CPU_MS;
    if (!isIdle || memory.heapBytes() < settledBytes + GROWTH_BYTES) return again();
    void memory.collect().then(() => {
      settledBytes = memory.heapBytes();
      again();
    });
    return undefined;
  };
  again();
  return () => {
    isStopped = true;
    stop();
  };
}

export const processMemory: Memory = {
  cpuMs() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
  heapBytes: () => process.memoryUsage().heapTotal,
  async collect() {
    // The one public way to it without a flag on the command line. Nobody can connect to a session in the same process.
    const session = new Session();
    session.connect();
    await new Promise<void>((resolve) => session.post("HeapProfiler.collectGarbage", () => resolve()));
    // Within its own answer it would wait for itself.
    await new Promise(setImmediate);
    session.disconnect();
  },
};
