import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { webSocketTransport } from "../../src/transport/websocket.ts";
import { Acpx, framesOf, stopReasons, turnText } from "../support/acpx.ts";
import { finished } from "../support/cli.ts";
import { RawClient } from "../support/raw-client.ts";
import { SdkClient } from "../support/sdk-client.ts";
import { loadOf, Stage } from "../support/stage.ts";

const SCRIPT = [
  [{ say: "I look. " }, { ask: true }, { say: "It was $answer. " }],
  [{ say: "one " }, { waitFor: "_test/on" }, { say: "two" }],
];
const WAIT = { timeout: 15_000 };
const allow = { outcome: { outcome: "selected", optionId: "allow" } } as const;

describe("clients of every kind on one session", () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = new Stage();
    await stage.serve();
  });
  afterEach(() => stage.end());

  const socket = async (): Promise<WebSocket> => {
    const ws = new WebSocket(stage.acp(`?instance=${(await stage.linked())[0]?.id}`), ["acp"], {
      headers: { authorization: `Bearer ${await stage.token("driver")}` },
    });
    await new Promise((resolve, reject) => ws.once("open", resolve).once("error", reject));
    return ws;
  };
  const transportOf = (ws: WebSocket) => webSocketTransport(ws, { maxPayloadBytes: 67_108_864 });

  /** A client of the SDK that has the session and allows what it is asked. */
  const sdk = async (sessionId: string) => {
    const ws = await socket();
    const client = new SdkClient(transportOf(ws), { permission: () => Promise.resolve(allow) });
    await client.initialize();
    await client.connection.agent.request("session/load", { sessionId, cwd: "/", mcpServers: [] });
    return { ws, client };
  };

  it("X2 P2 the SDK's, acpx, a plain one and the editor race for one answer; killed in the next turn, none of them ends it", async () => {
    const record = join(stage.home.dir, "record");
    const { editor, sessionId } = await stage.share({ record, turns: SCRIPT });
    const first = await sdk(sessionId);
    const plain = new RawClient(transportOf(await socket()));
    await plain.initialize({});
    await plain.call("session/load", loadOf(sessionId));
    const acpx = new Acpx(stage, sessionId);

    const ran = await acpx.run(["--approve-all", "--format", "json"], ["exec", "look"]);
    expect(stopReasons(framesOf(ran.stdout))).toEqual(["end_turn"]);
    const said = turnText(framesOf(ran.stdout), "agent_message_chunk");
    expect(said).toContain('"optionId":"allow"');
    await expect.poll(() => editor.textOf("agent_message_chunk"), WAIT).toBe(said);
    await expect.poll(() => first.client.said, WAIT).toBe(said);
    await expect.poll(() => plain.textOf("agent_message_chunk"), WAIT).toBe(said);
    expect(plain.textOf("user_message_chunk")).toBe("look");
    expect(readFileSync(record, "utf8").match(/"outcome":"selected"/g)).toHaveLength(1);

    const child = acpx.start(["--format", "json"], ["exec", "count"]);
    await expect.poll(() => plain.textOf("agent_message_chunk"), WAIT).toBe(`${said}one `);
    const gone = finished(child);
    child.kill("SIGKILL");
    first.ws.terminate();
    plain.close();
    await gone;
    await expect.poll(async () => (await stage.instances())[0]?.clients, WAIT).toBe(0);
    editor.notify("_test/on", {});
    await expect.poll(async () => (await stage.instances())[0]?.sessions[0]?.status, WAIT).toBe("idle");
    const again = await sdk(sessionId);
    await expect.poll(() => again.client.said, WAIT).toBe(`${said}one two`);
    await expect.poll(() => editor.textOf("agent_message_chunk"), WAIT).toBe(`${said}one two`);
    again.ws.terminate();
  });
});
