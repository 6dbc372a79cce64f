// The code alone, over pairs in memory: what is left of a hop without its pipes, sockets and disk.
import { figuresOf } from "../lib/scripts.mjs";

export const memory = {
  summary: "both multiplexers over pairs in memory: the code alone",
  defaults: { counts: [1, 10, 100], updates: 20_000, rounds: 5 },
  tiny: { counts: [1, 2], updates: 300, rounds: 1 },
  run: ({ counts, updates, rounds, node }) =>
    figuresOf("memory-cost.mjs", [counts.join(","), String(updates), String(rounds)], node),
  budgets: () => [],
  rows: ({ results }) =>
    results.map(({ readers, microsPerUpdate }) => ({ readers, "µs per update, both hops": microsPerUpdate })),
};
