// Puts the figures of a run into docs/performance.md: node test/bench/docs.mjs <file with the JSON of a run> [page]. Scenarios
// that were not run keep what stands there.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const PAGE = fileURLToPath(new URL("../../docs/performance.md", import.meta.url));

const between = (name) => new RegExp(`(<!-- generated: ${name} -->\n)[\\s\\S]*?(<!-- end -->)`);

const row = (cells) => `| ${cells.join(" | ")} |`;
const table = (head, rows) => [row(head), `|${"---|".repeat(head.length)}`, ...rows.map(row)].join("\n");

/** Rows that stand there already, by their first cell. */
function rowsOf(page, name) {
  const [text = ""] = between(name).exec(page) ?? [];
  const rows = text.split("\n").filter((line) => line.startsWith("| "));
  return new Map(
    rows
      .slice(1)
      .map((line) => line.slice(2, -2).split(" | "))
      .map((cells) => [cells[0], cells]),
  );
}

function withBudgets(page, { budgets, node }) {
  const rows = rowsOf(page, "budgets");
  for (const { what, figure, limit, verdict } of budgets) rows.set(what, [what, limit, String(figure), verdict, node]);
  const text = table(["what", "budget", "measured", "", "Node"], [...rows.values()]);
  return page.replace(between("budgets"), (_all, start, end) => `${start}${text}\n${end}`);
}

const WORDS = {
  hubMicrosPerUpdate: "hub CPU, µs per update, whoever listens",
  hubMicrosPerUpdateAndClient: "hub CPU, µs per update and client",
  bridgeMicrosPerUpdate: "bridge CPU, µs per update",
  hubMicrosPerKilobyte: "hub CPU, µs per kB of an update, to 10 clients",
  kbPerIdleConnection: "hub memory, kB per idle connection",
  hubMicrosPerPacedUpdate: "hub CPU, µs per update when every one comes alone (100 sessions)",
};

function withModel(page, { model }) {
  if (model === undefined) return page;
  const rows = rowsOf(page, "model");
  for (const [key, what] of Object.entries(WORDS)) if (key in model) rows.set(what, [what, String(model[key])]);
  for (const [clients, perSecond] of Object.entries(model.updatesPerSecondOfOneCore)) {
    const what = `updates a second one core fans out, ${clients} client${clients === "1" ? "" : "s"}`;
    rows.set(what, [what, String(perSecond)]);
  }
  const text = table(["what", "figure"], [...rows.values()]);
  return page.replace(between("model"), (_all, start, end) => `${start}${text}\n${end}`);
}

const [file, target = PAGE] = process.argv.slice(2);
if (file === undefined) {
  process.stderr.write("usage: node test/bench/docs.mjs <file with the JSON of a run> [page]\n");
  process.exit(2);
}
const report = JSON.parse(readFileSync(file, "utf8"));
writeFileSync(target, withModel(withBudgets(readFileSync(target, "utf8"), report), report));
