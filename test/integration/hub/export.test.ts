/** A transcript to take away: whole, and nobody is held up by a long one. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";
import { type PuppetAgent, puppetAgent } from "../../support/puppet-agent.ts";
import { rawClient } from "../../support/raw-client.ts";

const MESSAGES = 40;
const CHARS = 250_000;

describe("an export of ten megabytes", () => {
  let harness: HubHarness;
  let agent: PuppetAgent;
  beforeEach(async () => {
    harness = await startHub({ isDurable: true });
    agent = puppetAgent();
    const editor = rawClient(harness.bridge(agent.backend).editor);
    await editor.initialize({});
    await editor.call("session/new", { cwd: "/", mcpServers: [] });
    for (let count = 0; count < MESSAGES; count += 1)
      agent.update("s1", {
        sessionUpdate: "agent_message_chunk",
        messageId: `m${count}`,
        content: { type: "text", text: `${count}:`.padEnd(CHARS, "xyz ") },
      });
    await expect.poll(async () => (await read("json")).length, { timeout: 15_000 }).toBeGreaterThan(MESSAGES * CHARS);
  });
  afterEach(() => harness.stop());

  const get = (format: string): Promise<Response> =>
    fetch(`${harness.url}/api/sessions/s1/export?format=${format}`, { headers: { authorization: "Bearer viewer:v" } });
  const read = async (format: string): Promise<string> => (await get(format)).text();

  it("C3.history is whole in both forms, and the loop goes round while it is made", async () => {
    const { events } = JSON.parse(await read("json")) as {
      events: { params: { update: { content: { text: string } } } }[];
    };
    const texts = events.map(({ params }) => params.update.content?.text ?? "").filter((text) => text !== "");
    expect(texts.map((text) => Number(text.split(":", 1)[0]))).toEqual(
      Array.from({ length: MESSAGES }, (_each, index) => index),
    );
    expect(new Set(texts.map(({ length }) => length))).toEqual(new Set([CHARS]));
    let rounds = 0;
    let isDone = false;
    const count = (): void => {
      rounds += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const markdown = await read("md");
    isDone = true;
    expect(markdown.match(/^## Agent$/gm)).toHaveLength(MESSAGES);
    // Read by half megabytes and written by quarters: some thirty. In one go it were a handful.
    expect(rounds).toBeGreaterThan(20);
  });

  it("C3.history C6.limits a ninth at a time is told to come back, and may when one has gone", async () => {
    const aborts = Array.from({ length: 8 }, () => new AbortController());
    const url = `${harness.url}/api/sessions/s1/export?format=json`;
    const headers = { authorization: "Bearer viewer:v" };
    // Answers whose bodies nobody reads. Kept: fetch cancels one that is garbage.
    const unread = await Promise.all(aborts.map(({ signal }) => fetch(url, { headers, signal })));
    const ninth = await get("json");
    expect([ninth.status, ninth.headers.get("retry-after")]).toEqual([429, "2"]);
    await ninth.text();
    expect(unread.map(({ status }) => status)).toEqual(aborts.map(() => 200));
    for (const abort of aborts) abort.abort();
    await expect.poll(async () => (await get("md")).status, { timeout: 10_000 }).toBe(200);
  });
});
