// What the journal costs per update on disk and in CPU, at burst and in small commits, and how long a search takes.
import { figuresOf } from "../lib/scripts.mjs";

export const store = {
  summary: "the journal's writer and the search, alone",
  defaults: { search: "200x200" },
  tiny: { search: "0x0" },
  run: ({ search, node }) => figuresOf("store-cost.mjs", [search], node),
  budgets({ bursts, fleet, search }) {
    const [large, small] = bursts;
    const searches = search === undefined ? [] : Object.entries(search.queries);
    return [
      ["journal at burst: µs per update of 300 B", large.microsPerUpdate, "max", 2],
      ["database with its index: bytes on disk per update of 300 B", large.fileBytesPerUpdateWithIndex, "max", 320],
      ["database with its index: bytes on disk per update of 20 B", small.fileBytesPerUpdateWithIndex, "max", 40],
      ["journal: longest stall of background work, ms", Math.max(...bursts.map((b) => b.backgroundMsMax)), "max", 15],
      [
        "journal of 100 sessions at once: 99 of 100 commits hold the loop for at most, ms of CPU",
        fleet.commitCpuMsP99,
        "max",
        15,
      ],
      ["journal of 100 sessions at once: its log, MB", fleet.logMegabytesMax, "max", 8.4],
      ...searches.map(([name, { medianMs }]) => [`search, ${name}: median ms`, medianMs, "max", 50]),
    ];
  },
  rows: ({ bursts, fleet }) => [...bursts, fleet],
};
