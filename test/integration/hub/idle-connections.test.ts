import { IncomingMessage } from "node:http";
import { queryObjects } from "node:v8";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";
import { connectClient, type RawClient } from "../../support/raw-client.ts";

const COUNT = 30;

describe("connections that do nothing", () => {
  let hub: HubHarness;
  const clients: RawClient[] = [];
  beforeEach(async () => {
    hub = await startHub();
  });
  afterEach(async () => {
    for (const client of clients) client.close();
    await hub.stop();
  });

  it("keep nothing of the request they came with: no header, no credential", async () => {
    for (let index = 0; index < COUNT; index += 1) {
      const client = await connectClient(`${hub.url.replace("http", "ws")}/acp`, `viewer:n${index}`);
      await client.initialize();
      clients.push(client);
    }
    expect(queryObjects(IncomingMessage, { format: "count" })).toBeLessThan(COUNT / 2);
  });
});
