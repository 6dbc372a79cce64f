/** The benchmark of the app on a phone still runs, and what it counts is right. What it times is nobody's business here. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const RUN = fileURLToPath(new URL("../bench/run.mjs", import.meta.url));
const exec = promisify(execFile);

interface Sample {
  readonly heapMb: number;
  readonly nodes: number;
  readonly textMb: number;
  readonly codeMb: number;
  readonly stringsMb: number;
  readonly recordsMb: number;
}

describe("npm run bench", () => {
  it("web-soak: memory is sampled while the app watches, and a hidden page asks for nothing", async () => {
    const { stdout } = await exec(process.execPath, [RUN, "--tiny", "web-soak"]);
    const { scenarios, budgets } = JSON.parse(stdout) as {
      readonly scenarios: { readonly "web-soak": { readonly result: Record<string, number> & { samples: Sample[] } } };
      readonly budgets: readonly { readonly what: string; readonly figure: number }[];
    };
    const { samples, ...result } = scenarios["web-soak"].result;
    expect(samples.length).toBeGreaterThan(0);
    for (const sample of samples) {
      expect(sample.heapMb).toBeGreaterThan(1);
      expect(sample.nodes).toBeGreaterThan(100);
      // The kinds are the whole, whichever way it is counted.
      const kinds = sample.codeMb + sample.stringsMb + sample.recordsMb;
      expect(kinds / sample.heapMb).toBeGreaterThan(0.9);
      expect(kinds / sample.heapMb).toBeLessThan(1.1);
      expect(sample.stringsMb).toBeGreaterThan(sample.textMb);
    }
    expect(result).toMatchObject({ updates: 180 * samples.length, hidden: { requestsPerMinute: 0 } });
    // Every byte the agent wrote came over the wire, inside of something.
    expect(result["textBytes"]).toBeGreaterThan(1000);
    expect(result["wireBytes"]).toBeGreaterThan(result["textBytes"] ?? 0);
    expect(result["rows"]).toBeGreaterThan(3);
    // Each budget has a figure to judge: a figure that went missing would be judged by nobody.
    expect(budgets.map(({ what }) => what.replace("app, an hour of stream: ", ""))).toEqual([
      "memory beyond the text, MB an hour",
      "nodes more a minute",
      "listeners more a minute",
      "rows mounted",
      "requests a minute, hidden after it",
    ]);
    expect(budgets.every(({ figure }) => Number.isFinite(figure))).toBe(true);
  });
});
