// What the journal costs per update on disk and in CPU, at burst and in small commits, and how long a search takes.
import { figuresOf } from "../lib/scripts.mjs";

export const store = {
  summary: "the journal's writer and the search, alone",
  defaults: { search: "200x200" },
  tiny: { search: "0x0" },
  run: ({ search, node }) => figuresOf("store-cost.mjs", [search], node),
  budgets({ bursts }) {
    const [large, small] = bursts;
    return [
      ["journal at burst: µs per update of 300 B", large.microsPerUpdate, "max", 2],
      ["journal: bytes on disk per update of 300 B", large.journalBytesPerUpdate, "max", 320],
      ["journal: bytes on disk per update of 20 B", small.journalBytesPerUpdate, "max", 40],
    ];
  },
  rows: ({ bursts }) => bursts,
};
