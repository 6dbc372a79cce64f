// npm run bench [-- name …]: runs the scenarios and prints JSON; a table on stderr. Figures are ratios within one run.
import { attach } from "./attach.mjs";
import { fanout } from "./fanout.mjs";
import { paced } from "./paced.mjs";
import { startup } from "./startup.mjs";

const SCENARIOS = { fanout, paced, startup, attach };
const names = process.argv.slice(2).filter((word) => !word.startsWith("-"));
const unknown = names.filter((name) => !Object.hasOwn(SCENARIOS, name));
if (unknown.length > 0) {
  console.error(`no scenario ${unknown.join(", ")}; there are ${Object.keys(SCENARIOS).join(", ")}`);
  process.exit(2);
}
const results = { node: process.version, at: new Date().toISOString() };
for (const name of names.length > 0 ? names : Object.keys(SCENARIOS)) {
  console.error(`… ${name}`);
  results[name] = await SCENARIOS[name]();
}
console.log(JSON.stringify(results, null, 2));
