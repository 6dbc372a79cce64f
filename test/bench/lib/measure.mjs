// What processes cost, and what numbers say. CPU from the scheduler's own nanoseconds, all threads.
import { readdirSync, readFileSync } from "node:fs";

/** CPU time of a process in µs; 0 where /proc does not tell. */
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

/** CPU time in µs of each of `pids`, by name. */
export const cpuOf = (pids) => Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, cpuMicros(pid)]));

/** What each of `pids` has used since `before`, in µs. */
export const cpuSince = (pids, before) =>
  Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, cpuMicros(pid) - before[name]]));

const memory = (pid, field) => {
  const match = new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Math.round(Number(match?.[1] ?? 0) / 102.4) / 10;
};

/** Resident memory in MB. */
export const rssMb = (pid) => memory(pid, "VmRSS");
/** The most it ever was, in MB. */
export const peakRssMb = (pid) => memory(pid, "VmHWM");

/** Microseconds since the epoch, comparable between the processes of one machine. */
export const micros = () => Math.round((performance.timeOrigin + performance.now()) * 1000);

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

/** How far rounds lie apart, as a share of their median: what a single figure of this run is worth. */
export const spread = (values) =>
  values.length === 0 ? 0 : round((Math.max(...values) - Math.min(...values)) / (median(values) || 1));

/** The slope of a least-squares line through [x, y] pairs. */
export const slope = (points) => line(points).slope;

/** That line's slope, and its standard error: as if what lies off the line did so by chance, each point by itself. */
export function line(points) {
  const n = points.length;
  const mean = (at) => points.reduce((sum, point) => sum + point[at], 0) / n;
  const [meanX, meanY] = [mean(0), mean(1)];
  const above = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  const below = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  if (below === 0) return { slope: 0, error: Number.POSITIVE_INFINITY };
  const each = above / below;
  const off = points.reduce((sum, [x, y]) => sum + (y - meanY - each * (x - meanX)) ** 2, 0);
  return { slope: each, error: n > 2 ? Math.sqrt(off / (n - 2) / below) : Number.POSITIVE_INFINITY };
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** How busy the machine was besides us: a figure taken at load 3 is worth less. */
export const load = () => Number(readFileSync("/proc/loadavg", "utf8").split(" ")[0]);
