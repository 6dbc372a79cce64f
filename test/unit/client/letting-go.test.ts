import { expect, it } from "vitest";
import { ITEMS_MAX } from "../../../src/client/transcript/draft.ts";
import type { JsonObject } from "../../../src/protocol/json.ts";
import { connect, stamp, world } from "../../support/client-world.ts";
import { settled } from "../../support/manual-clock.ts";

const tool = (seq: number): JsonObject => ({ sessionUpdate: "tool_call", toolCallId: `t${seq}`, title: "run" });

/** The numbers of the first item and the last that a session is loaded with. */
const FIRST = 11;
const LAST = ITEMS_MAX + 10;

it("loads again what was let go of at the front, from where that ends", async () => {
  const w = world();
  const { hub, client } = w;
  const session = await client.open("s1");
  await connect(w);
  for (let seq = FIRST; seq <= LAST; seq += 1) hub.socket.update(tool(seq), stamp(seq, { replay: true }));
  const whole = { verdict: "ok", cursor: { epoch: "e1", seq: LAST }, hasMore: false, before: FIRST };
  hub.socket.reply("session/load", { _meta: { "acp-hub": whole } });
  await settled();
  expect(session.view.value.hasEarlier).toBe(false);

  hub.socket.update(tool(LAST + 1), stamp(LAST + 1));
  expect(session.view.value.transcript.items).toHaveLength(ITEMS_MAX);
  expect(session.view.value.hasEarlier).toBe(true);

  const page = session.loadEarlier();
  expect(hub.socket.request("_acp-hub/load_earlier").params).toMatchObject({ before: FIRST + 1 });
  // One more goes while the page is on its way: between that and what is left something would be missing.
  hub.socket.update(tool(LAST + 2), stamp(LAST + 2));
  hub.socket.update(tool(FIRST), stamp(FIRST, { page: true }));
  hub.socket.reply("_acp-hub/load_earlier", { hasMore: false });
  await page;
  expect(session.view.value).toMatchObject({ hasEarlier: true, isLoadingEarlier: false });
  expect(session.view.value.transcript.items[0]).toMatchObject({ toolCallId: `t${FIRST + 2}` });

  const again = session.loadEarlier();
  expect(hub.socket.request("_acp-hub/load_earlier").params).toMatchObject({ before: FIRST + 2 });
  for (const seq of [FIRST, FIRST + 1]) hub.socket.update(tool(seq), stamp(seq, { page: true }));
  hub.socket.reply("_acp-hub/load_earlier", { hasMore: false });
  await again;
  expect(session.view.value.hasEarlier).toBe(false);
  const firstThree = session.view.value.transcript.items.slice(0, 3);
  expect(firstThree).toMatchObject([FIRST, FIRST + 1, FIRST + 2].map((seq) => ({ toolCallId: `t${seq}` })));
});
