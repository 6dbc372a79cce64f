/**
 * Golden streams: frames of the app-server during a prompt's turn, and what the client sees of them. `GOLDEN_UPDATE=1`
 * writes the expectations anew; read the difference before committing it.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../../src/protocol/json.ts";
import { harness } from "../../../support/fake-zcode/harness.ts";

const ROOT = fileURLToPath(new URL("../../../fixtures/backends/zcode/", import.meta.url));
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const CAPABILITIES = { elicitation: { form: {} }, _meta: { terminal_output: true } };

function normalised(frames: readonly unknown[]): JsonObject[] {
  const text = JSON.stringify(frames)
    .replace(UUID, "<uuid>")
    .replace(/bg_[0-9a-f]{12}/g, "bg_<hex>");
  return JSON.parse(text) as JsonObject[];
}

async function play(lines: readonly string[]): Promise<JsonObject> {
  const h = await harness(
    { sessions: [{ sessionId: "sess_abc123", cwd: "/p" }], prompts: [{ match: "", steps: [{ do: "hang" }] }] },
    { capabilities: CAPABILITIES, allows: (violation) => violation.startsWith("answer to unknown id") },
  );
  const prompt = h.client.prompt("sess_abc123", "go");
  await h.until(
    "the turn runs",
    () => h.fakes.length === 1 && h.fake.sent.some((frame) => JSON.stringify(frame).includes("turn.started")),
  );
  await h.clock.advance(2_000);
  const [mark, answered] = [h.client.frames.length, h.fake.received.length];
  for (const line of lines) {
    h.fake.writeRaw(line);
    // Reads a real app-server would answer with nothing new.
    await h.clock.advance(10);
  }
  await h.clock.advance(1_000);
  const shown = h.client.frames.slice(mark).map(({ jsonrpc: _version, ...frame }) => frame);
  const answers = h.fake.received.slice(answered).filter((frame) => frame["method"] === undefined);
  h.client.notify("session/cancel", { sessionId: "sess_abc123" });
  await h.settle(prompt);
  await h.end();
  return { shown: normalised(shown), answers: normalised(answers) };
}

const cases = readdirSync(ROOT);

test.each(cases)("golden stream %s", async (name) => {
  const lines = readFileSync(join(ROOT, name, "in.ndjson"), "utf8")
    .split("\n")
    .filter((line) => line !== "");
  const outPath = join(ROOT, name, "out.json");
  const played = await play(lines);
  if (process.env["GOLDEN_UPDATE"] === "1") writeFileSync(outPath, `${JSON.stringify(played, null, 1)}\n`);
  expect(existsSync(outPath)).toBe(true);
  expect(played).toEqual(JSON.parse(readFileSync(outPath, "utf8")));
});

test("every case of the folder is played", () => {
  expect(cases.length).toBeGreaterThanOrEqual(29);
});
