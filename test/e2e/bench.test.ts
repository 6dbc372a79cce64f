/** The benchmarks still run, and what they count is right. What they time is nobody's business here. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const DOCS = fileURLToPath(new URL("../bench/docs.mjs", import.meta.url));
const RUN = fileURLToPath(new URL("../bench/run.mjs", import.meta.url));
const exec = promisify(execFile);

interface Report {
  readonly before: { readonly spinMs: number; readonly load: number };
  readonly scenarios: Record<string, { readonly result: unknown }>;
  readonly model: { readonly hubMicrosPerUpdate: number; readonly hubMicrosPerUpdateAndClient: number };
  readonly budgets: readonly { readonly what: string; readonly figure: number; readonly verdict: string }[];
}

async function tiny(name: string): Promise<{ result: unknown; report: Report; words: string }> {
  const { stdout, stderr } = await exec(process.execPath, [RUN, "--tiny", name]);
  const report = JSON.parse(stdout) as Report;
  return { result: report.scenarios[name]?.result, report, words: stderr };
}

/** They read /proc, and there is none elsewhere. */
const onLinux = describe.skipIf(process.platform !== "linux");

onLinux("npm run bench", () => {
  it("burst: every client of every system gets every update", async () => {
    const { result, report, words } = await tiny("burst");
    const whole = { completeClients: expect.any(Number) };
    expect(result).toMatchObject([
      { clients: 1, relay: { completeClients: 1 }, batched: { completeClients: 1 }, hub: { completeClients: 1 } },
      { clients: 3, relay: { completeClients: 3 }, batched: { completeClients: 3 }, hub: { completeClients: 3 } },
    ]);
    expect(result).toMatchObject([{ hub: { ...whole, spread: 0 } }, {}]);
    expect(report.before.spinMs).toBeGreaterThan(0);
    expect(report.budgets.map((each) => each.verdict)).toEqual([
      expect.stringMatching(/^(met|missed)$/),
      expect.stringMatching(/^(met|missed)$/),
    ]);
    expect(words).toContain("Budgets");
    // Through two points a line goes exactly.
    const [one, three] = result as { hub: { serverMicrosPerDelivery: number } }[];
    const { hubMicrosPerUpdate: base, hubMicrosPerUpdateAndClient: each } = report.model;
    expect(base + each).toBeCloseTo(one?.hub.serverMicrosPerDelivery ?? 0, 0);
    expect(base + 3 * each).toBeCloseTo(3 * (three?.hub.serverMicrosPerDelivery ?? 0), 0);
  });

  it("paced: every client gets every update, and says how old each was", async () => {
    const { result } = await tiny("paced");
    expect(result).toMatchObject([
      { clients: 2, perSecond: 100, relay: { completeClients: 2 }, hub: { completeClients: 2 } },
    ]);
    const [{ hub }] = result as [{ hub: { p50Ms: number } }];
    expect(hub.p50Ms).toBeGreaterThan(0);
  });

  it("sizes: updates of a megabyte come whole, too", async () => {
    const complete = { relay: { completeClients: 2 }, batched: { completeClients: 2 }, hub: { completeClients: 2 } };
    expect((await tiny("sizes")).result).toMatchObject([
      { bytes: 100, ...complete },
      { bytes: 18_000, ...complete },
      { bytes: 1_000_000, ...complete },
    ]);
  });

  it("memory: both hops without pipes pass every update on", async () => {
    const { result } = await tiny("memory");
    expect(result).toMatchObject({ results: [{ readers: 1 }, { readers: 2 }] });
    const { results } = result as { results: { bytesEach: number }[] };
    // An update of 300 B with its envelope, its stamp and its frame's head.
    for (const { bytesEach } of results) expect(bytesEach).toBeGreaterThan(500);
  });

  it("fleet: sessions of several bridges come to their own clients", async () => {
    expect((await tiny("fleet")).result).toMatchObject({ sessions: 4, completeSessions: 4 });
  });

  it("race: every client is asked every question, and every turn ends", async () => {
    const { result } = await tiny("race");
    const { asked, expectedCopies } = result as { asked: number; expectedCopies: number };
    expect(result).toMatchObject({ clients: 3, failures: 0 });
    // A question that is settled before a client's copy is written is not sent to it.
    expect(asked).toBeGreaterThanOrEqual(expectedCopies / 3);
    expect(asked).toBeLessThanOrEqual(expectedCopies);
  });

  it("joins: whoever joins in mid-stream gets all of it, in order", async () => {
    expect((await tiny("joins")).result).toMatchObject({ joins: 4, complete: 4 });
  });

  it("catchup: a cursor gets exactly what it lacks", async () => {
    expect((await tiny("catchup")).result).toMatchObject([
      { updates: 30, complete: 1 },
      { updates: 150, complete: 1 },
    ]);
  });

  it("attach: the replay is the whole session, in few frames", async () => {
    const { result } = await tiny("attach");
    expect(result).toMatchObject({ updates: 200, complete: 1 });
    expect((result as { frames: number }).frames).toBeLessThan(10);
  });

  it("startup: each way to start an agent is measured", async () => {
    const positive = expect.any(Number);
    const ways = { alone: positive, bridgeNoShare: positive, bridgeNoHub: positive, bridgeWithHub: positive };
    expect((await tiny("startup")).result).toMatchObject({ ms: ways, rssMb: { ...ways, hub: positive } });
  });

  it("idle: as many connections as asked for are held", async () => {
    expect((await tiny("idle")).result).toMatchObject({ connections: 10 });
  });

  it("stalled: who stopped reading has everything in the end", async () => {
    const complete = { none: { complete: 1 }, hub: { complete: 3 }, relay: { complete: 3 } };
    expect((await tiny("stalled")).result).toMatchObject({ stalled: 2, ...complete });
  });

  it("storm: everyone is back by cursor, and the editor has missed nothing", async () => {
    expect((await tiny("storm")).result).toMatchObject({ clients: 5, exact: 5, updates: 150, editorUpdates: 150 });
  });

  it("compression: large frames shrink, small ones do not, and both come whole", async () => {
    const { result } = await tiny("compression");
    const complete = { without: { completeClients: 2 }, compressed: { completeClients: 2 } };
    expect(result).toMatchObject([
      { bytes: 300, ...complete },
      { bytes: 18_000, ...complete },
    ]);
    const [small, large] = result as { share: number }[];
    expect(small?.share).toBeCloseTo(1, 1);
    expect(large?.share).toBeLessThan(0.6);
  });

  it("store: each kind of burst is measured", async () => {
    const { result } = await tiny("store");
    const { bursts, fleet } = result as { bursts: unknown[]; fleet: Record<string, number> };
    expect(bursts).toHaveLength(5);
    expect(fleet).toMatchObject({ sessions: 100, commits: 750 });
    expect(fleet["logMegabytesMax"]).toBeGreaterThan(1);
  });

  it("zcode: the stream is translated to its end", async () => {
    const { result } = await tiny("zcode");
    expect((result as { hour: { events: number } }).hour.events).toBeGreaterThanOrEqual(2000);
  });

  it("soak: memory is sampled while clients come and go", async () => {
    const { result } = await tiny("soak");
    const { samples, churned } = result as { samples: number; churned: number };
    expect(samples).toBeGreaterThan(1);
    expect(churned).toBe(samples);
  });

  it("its figures go into the page, and those of other scenarios stay", async () => {
    const dir = mkdtempSync(join(tmpdir(), "acp-hub-bench-docs-"));
    const [run, page] = [join(dir, "run.json"), join(dir, "page.md")];
    const budget = { what: "a thing", figure: 2, limit: "≤ 3", verdict: "met" };
    const model = { hubMicrosPerUpdate: 7, updatesPerSecondOfOneCore: { 1: 9 } };
    writeFileSync(
      page,
      "a\n<!-- generated: budgets -->\n<!-- end -->\nb\n<!-- generated: model -->\n<!-- end -->\nc\n",
    );
    for (const what of ["a thing", "another"]) {
      writeFileSync(run, JSON.stringify({ node: "v20.0.0", budgets: [{ ...budget, what }], model }));
      await exec(process.execPath, [DOCS, run, page]);
    }
    const text = readFileSync(page, "utf8");
    rmSync(dir, { recursive: true });
    expect(text).toContain(
      "| a thing | ≤ 3 | 2 | met | v20.0.0 |\n| another | ≤ 3 | 2 | met | v20.0.0 |\n<!-- end -->\nb",
    );
    expect(text).toContain(
      "| hub CPU, µs per update, whoever listens | 7 |\n| updates a second one core fans out, 1 client | 9 |",
    );
  });

  it("names what there is when a scenario is unknown", async () => {
    await expect(exec(process.execPath, [RUN, "nothing"])).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/no scenario nothing[\s\S]*burst/),
    });
  });

  it("refuses a number that is none", async () => {
    await expect(exec(process.execPath, [RUN, "--tiny", "--rounds", "few", "burst"])).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--rounds"),
    });
  });
});
