// The run for people: a table per scenario, then every budget with its figure. Words go to stderr; the figures are on stdout.
import { round } from "./measure.mjs";

const shown = (value) => (typeof value === "number" ? String(round(value, value >= 100 ? 0 : 2)) : String(value ?? ""));

/** Columns as wide as they need, under their names. */
export function table(rows) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cells = [names, ...rows.map((row) => names.map((name) => shown(row[name])))];
  const widths = names.map((_name, at) => Math.max(...cells.map((line) => line[at].length)));
  return cells.map((line) => line.map((cell, at) => cell.padStart(widths[at])).join("  ")).join("\n");
}

/** What the scenario's figures say to its budgets. */
export function judged(scenario, result, about) {
  return scenario.budgets(result, about).map(([what, figure, kind, limit]) => ({
    what,
    figure: round(figure, 3),
    limit: `${kind === "max" ? "≤" : "≥"} ${limit}`,
    verdict: (kind === "max" ? figure <= limit : figure >= limit) ? "met" : "missed",
  }));
}

/** All numbers of a result to three digits: what is behind them is noise. */
export function rounded(value) {
  if (typeof value === "number") return Number.isInteger(value) ? value : round(value, 3);
  if (Array.isArray(value)) return value.map(rounded);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, rounded(member)]));
}
