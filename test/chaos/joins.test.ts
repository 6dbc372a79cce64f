import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { paramsOf } from "../../src/protocol/envelope.ts";
import { objectAt } from "../../src/protocol/json.ts";
import { dice, pause, transcriptOf } from "../support/chaos.ts";
import { Transcript } from "../support/follower.ts";
import { connectClient, type RawClient } from "../support/raw-client.ts";
import { loadOf, Stage, textPrompt } from "../support/stage.ts";

const JOINS = 100;
const CHUNKS = 3000;
const CLIENTS = 50;
const DEAF = 10;

interface Joined {
  readonly client: RawClient;
  readonly transcript: Transcript;
}

/** Connects, and keeps the transcript as it comes. Every other client is a plain one. */
async function join(url: string, token: string, index: number): Promise<Joined> {
  const transcript = new Transcript();
  const client = await connectClient(url, token, {
    onFrame: (frame) => {
      if (frame.kind === "notification" && frame.msg.method === "session/update")
        transcript.add(objectAt(paramsOf(frame.msg), "update") ?? {});
    },
  });
  await client.initialize(index % 2 === 0 ? {} : undefined);
  return { client, transcript };
}

describe("many clients on one stream", () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = new Stage();
    await stage.serve();
  });
  afterEach(() => stage.end());

  it(`B2 H9 ${JOINS} of ${JOINS} clients that join in mid-stream have all, in order, once`, async () => {
    const random = dice("joins");
    const { editor, sessionId } = await stage.share({
      turns: [[{ stream: { count: CHUNKS, bytes: 30, everyMs: 3 } }]],
    });
    const query = `?instance=${(await stage.linked())[0]?.id}`;
    const token = await stage.token("viewer");
    const early = await Promise.all(Array.from({ length: JOINS }, (_, index) => join(stage.acp(query), token, index)));
    const turn = editor.call("session/prompt", textPrompt(sessionId, "stream"));
    let inMidStream = 0;
    await Promise.all(
      early.map(async ({ client }) => {
        await pause(random.between(0, CHUNKS * 2));
        await client.call("session/load", loadOf(sessionId));
        const { length } = editor.updates();
        if (length > 0 && length < CHUNKS) inMidStream += 1;
      }),
    );
    await turn;
    expect(inMidStream).toBeGreaterThan(JOINS / 2);
    const expected = `user_message_chunk: stream\n${transcriptOf(editor).text}`;
    for (const { transcript } of early)
      await expect.poll(() => afterWatching(transcript, expected), { timeout: 10_000 }).toBe(true);
    for (const { client } of early) client.close();
  });

  it(`B5 H20 ${CLIENTS} clients of which ${DEAF} do not read: the others and the editor are not held up`, async () => {
    const { editor, sessionId } = await stage.share({ turns: [[{ stream: { count: 5000, bytes: 1500 } }]] });
    const query = `?instance=${(await stage.linked())[0]?.id}`;
    const token = await stage.token("viewer");
    const all = await Promise.all(Array.from({ length: CLIENTS }, (_, index) => join(stage.acp(query), token, index)));
    for (const { client } of all) await client.call("session/load", loadOf(sessionId));
    const deaf = all.slice(0, DEAF);
    for (const { client } of deaf) client.stopReading();
    expect(await editor.call("session/prompt", textPrompt(sessionId, "flood"))).toEqual({ stopReason: "end_turn" });
    const expected = `user_message_chunk: flood\n${transcriptOf(editor).text}`;
    for (const { transcript } of all.slice(DEAF))
      await expect.poll(() => transcript.text === expected, { timeout: 20_000 }).toBe(true);
    // A stream of 8 MB, unread by ten: the hub keeps it once, not ten times.
    const pid = (await stage.hubInfo())?.pid ?? 0;
    expect(residentBytes(pid)).toBeLessThan(400_000_000);
    for (const { client, transcript } of deaf) {
      expect(transcript.text.length).toBeLessThan(expected.length);
      client.readAgain();
      await expect.poll(() => transcript.text === expected, { timeout: 20_000 }).toBe(true);
    }
    for (const { client } of all) client.close();
  });
});

/** A client that loads later than a second after its initialize was a watcher until then (B1): what it saw so far, then all. */
const afterWatching = ({ text }: Transcript, expected: string): boolean => text === expected || text.endsWith(expected);

function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
}
