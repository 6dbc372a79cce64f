import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HeadlessInstances } from "../../../src/hub/headless.ts";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";

describe("starting an instance without an editor", () => {
  let hub: HubHarness;
  let root: string;
  beforeEach(async () => {
    hub = await startHub();
    root = realpathSync(mkdtempSync(join(tmpdir(), "acp-hub-roots-")));
  });
  afterEach(async () => {
    await hub.stop();
    rmSync(root, { recursive: true });
  });

  it("C3.instances a second tap at the limit joins the start of the first", async () => {
    const ends = { command: process.execPath, args: ["-e", ""], env: {} };
    const headless = new HeadlessInstances(hub.hub.registry, { roots: [root], profiles: ["mine"], max: 1, ...ends });
    // Neither comes up; refused for the limit the second would be told something else.
    const answers = await Promise.all([headless.create(root, undefined), headless.create(root, "mine")]);
    expect(answers).toEqual([{ refusal: "timeout" }, { refusal: "timeout" }]);
  });
});
