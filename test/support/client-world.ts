/** A client against a scripted hub, on a clock moved by hand. */
import { HubClient } from "../../src/client/hub-client.ts";
import { memoryStorage } from "../../src/client/ports.ts";
import type { SessionClient } from "../../src/client/session.ts";
import { textOf } from "../../src/client/transcript/blocks.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import { ManualClock, settled } from "./manual-clock.ts";
import { helloResult, ScriptedHub } from "./scripted-hub.ts";

export interface World {
  readonly clock: ManualClock;
  readonly hub: ScriptedHub;
  readonly client: HubClient;
}

export function world(): World {
  const clock = new ManualClock();
  const hub = new ScriptedHub();
  let nextId = 1;
  const client = new HubClient({
    dial: () => Promise.resolve({ url: "ws://hub/acp" }),
    openSocket: hub.openSocket,
    clock,
    clientInfo: { name: "test", version: "1" },
    storage: memoryStorage(),
    newId: () => `p${nextId++}`,
  });
  return { clock, hub, client };
}

export async function connect({ hub, client }: World): Promise<void> {
  client.start();
  await settled();
  hub.socket.open();
  hub.socket.reply("initialize", helloResult(`c${hub.sockets.length}`));
  await settled();
}

export const methods = (w: World): readonly (string | undefined)[] => w.hub.socket.received.map(({ method }) => method);

export const chunk = (text: string): JsonObject => ({
  sessionUpdate: "agent_message_chunk",
  messageId: "m1",
  content: { type: "text", text },
});

export const stamp = (seq: number, extra: JsonObject = {}): JsonObject => ({ epoch: "e1", seq, ts: seq, ...extra });

export const loaded = (verdict: string, seq: number, extra: JsonObject = {}): JsonObject => ({
  _meta: { "acp-hub": { verdict, cursor: { epoch: "e1", seq }, turn: "idle", openInteractions: 0, ...extra } },
});

export async function attached(w: World): Promise<SessionClient> {
  const session = await w.client.open("s1");
  await connect(w);
  w.hub.socket.update(chunk("one "), stamp(1, { replay: true }));
  w.hub.socket.reply("session/load", loaded("ok", 1));
  await settled();
  return session;
}

export const text = (session: SessionClient): string =>
  session.view.value.transcript.items
    .map((item) => ("blocks" in item ? textOf(item.blocks) : `[${item.kind}]`))
    .join("|");
