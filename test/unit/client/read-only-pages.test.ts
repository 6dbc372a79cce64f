import { expect, it } from "vitest";
import { connect, world } from "../../support/client-world.ts";
import { settled } from "../../support/manual-clock.ts";

it("S1 pages back in a session that is only read, from where the hub says each page ends", async () => {
  const w = world();
  const { hub, client } = w;
  const session = await client.open("s1");
  await connect(w);
  const update = { sessionUpdate: "agent_message_chunk", messageId: "m1", content: { type: "text", text: "late" } };
  hub.socket.update(update, { epoch: "e2", seq: 20, ts: 20, replay: true });
  const ours = { verdict: "ok", readOnly: true, cursor: { epoch: "e2", seq: 20 }, hasMore: true, before: 20 };
  hub.socket.reply("session/load", { _meta: { "acp-hub": ours } });
  await settled();
  for (const [before, next] of [
    [20, -1],
    [-1, -2],
  ] as const) {
    const more = session.loadEarlier();
    expect(hub.socket.request("_acp-hub/load_earlier").params).toMatchObject({ before });
    hub.socket.reply("_acp-hub/load_earlier", { hasMore: next !== -2, before: next });
    await more;
  }
  expect(session.view.value).toMatchObject({ hasEarlier: false, isReadOnly: true });
});
