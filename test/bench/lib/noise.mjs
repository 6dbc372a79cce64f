// How quiet the machine was: a fixed piece of work, timed before and after a scenario. Figures of a run in which it took much
// longer than it can are not worth comparing with those of another.
import { cpus } from "node:os";
import { load, round } from "./measure.mjs";

const STEPS = 4_000_000;
const TRIES = 5;

function spinMs() {
  const startedAt = performance.now();
  let state = 1;
  for (let index = 0; index < STEPS; index += 1) state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
  return state === 0 ? 0 : performance.now() - startedAt;
}

/** The quickest and the slowest of a few spins, in ms, and the load. */
export function noise() {
  const tries = Array.from({ length: TRIES }, spinMs);
  return { spinMs: round(Math.min(...tries)), spinMaxMs: round(Math.max(...tries)), load: load(), cpus: cpus().length };
}
