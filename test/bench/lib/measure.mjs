// What processes cost, and what numbers say. CPU from the scheduler's own nanoseconds, all threads.
import { readdirSync, readFileSync } from "node:fs";

/** CPU time of a process in µs. */
export function cpuMicros(pid) {
  let total = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    try {
      total += Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ")[0]);
    } catch {
      // The thread ended meanwhile.
    }
  }
  return total / 1000;
}

/** Resident memory in MB. */
export function rssMb(pid) {
  const match = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Math.round(Number(match?.[1] ?? 0) / 102.4) / 10;
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export function percentile(values, p) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * p) / 100))] ?? 0;
}

export const round = (value, digits = 2) => Number(value.toFixed(digits));

/** How busy the machine was besides us: a figure taken at load 3 is worth less. */
export const load = () => Number(readFileSync("/proc/loadavg", "utf8").split(" ")[0]);
