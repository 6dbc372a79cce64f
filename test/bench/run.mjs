// npm run bench [-- name …] [--rounds N] [--minutes M] [--clients A,B] [--node PATH] [--tiny]: runs the scenarios (all but the long
// ones when none is named), prints the figures as JSON on stdout, tables and budgets on stderr. docs/performance.md explains both.
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { round } from "./lib/measure.mjs";
import { costModel } from "./lib/model.mjs";
import { noise } from "./lib/noise.mjs";
import { MAIN } from "./lib/processes.mjs";
import { judged, rounded, table } from "./lib/report.mjs";
import { SCENARIOS } from "./scenarios/index.mjs";

const say = (text) => process.stderr.write(`${text}\n`);

function fail(text) {
  say(text);
  process.exit(2);
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        rounds: { type: "string" },
        minutes: { type: "string" },
        clients: { type: "string" },
        node: { type: "string" },
        tiny: { type: "boolean" },
      },
    });
  } catch (error) {
    return fail(error.message);
  }
}

/** What is said on the command line stands in for a default of the scenario, where it has such a one. */
function optionsOf(scenario, values) {
  const defaults = values.tiny ? scenario.tiny : scenario.defaults;
  const said = {
    ...(values.rounds !== undefined && { rounds: Number(values.rounds) }),
    ...(values.minutes !== undefined && { minutes: Number(values.minutes) }),
    ...(values.clients !== undefined && Array.isArray(defaults.counts)
      ? { counts: values.clients.split(",").map(Number) }
      : {}),
    ...(values.clients !== undefined && !Array.isArray(defaults.counts) && { clients: Number(values.clients) }),
  };
  const known = Object.entries(said).filter(([key]) => key in defaults);
  for (const [key, value] of known)
    if ([value].flat().some((each) => !Number.isFinite(each) || each <= 0)) fail(`--${key} needs a positive number`);
  return { ...defaults, ...Object.fromEntries(known), ...(values.node !== undefined && { node: values.node }) };
}

const { values, positionals: named } = readArguments();
const unknown = named.filter((name) => !Object.hasOwn(SCENARIOS, name));
if (unknown.length > 0) {
  const lines = Object.entries(SCENARIOS).map(([name, { summary }]) => `  ${name.padEnd(10)}${summary}`);
  fail(`There is no scenario ${unknown.join(", ")}. There are:\n${lines.join("\n")}`);
}
if (!existsSync(MAIN)) fail(`${MAIN} is not there: npm run build`);

const about = { isNewNode: Number(process.versions.node.split(".")[0]) >= 22 };
const names =
  named.length > 0 ? named : Object.keys(SCENARIOS).filter((name) => values.tiny || !SCENARIOS[name].isLong);
const report = { node: process.version, at: new Date().toISOString(), before: noise(), scenarios: {}, budgets: [] };
const startedAt = performance.now();
for (const name of names) {
  const scenario = SCENARIOS[name];
  say(`\n${name}: ${scenario.summary}`);
  const began = performance.now();
  const result = rounded(await scenario.run(optionsOf(scenario, values)));
  const seconds = round((performance.now() - began) / 1000, 1);
  const after = noise();
  report.scenarios[name] = { result, seconds, noise: after };
  report.budgets.push(...judged(scenario, result, about));
  say(table(scenario.rows(result)));
  say(`(${seconds} s; load ${after.load}, spin ${after.spinMs} to ${after.spinMaxMs} ms)`);
}
report.after = noise();
report.model = costModel(report.scenarios);
report.seconds = round((performance.now() - startedAt) / 1000, 1);
say(`\nBudgets\n${table(report.budgets)}`);
if (report.model !== undefined) say(`\nCost model\n${JSON.stringify(report.model, null, 1)}`);
say(`\nSpin before ${report.before.spinMs} ms, after ${report.after.spinMs} ms; ${report.seconds} s in all`);
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
