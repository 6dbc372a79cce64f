// Attaching to a long session: time to the first frame and to the whole replay, and how many frames it takes.
import { load, round } from "./lib/measure.mjs";
import { startHub } from "./lib/systems.mjs";

export async function attach({ updates = 10_000, node, rounds = 5 } = {}) {
  const hub = await startHub(node);
  await hub.promptDone(`burst ${updates} 300`);
  const samples = [];
  for (let index = 0; index < rounds; index += 1) {
    const client = await hub.rawClient();
    await new Promise((resolve) => {
      client.listen((text) => text.includes('"id":1,"result"') && resolve());
      client.send(
        JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "initialize",
          params: { protocolVersion: 1, clientCapabilities: {} },
        }),
      );
    });
    let frames = 0;
    let firstAt = 0;
    const startedAt = performance.now();
    await new Promise((resolve) => {
      client.listen((text) => {
        frames += 1;
        firstAt ||= performance.now();
        if (text.includes('"id":2,"result"')) resolve();
      });
      client.send(
        JSON.stringify({
          jsonrpc: "2.0",
          id: 2,
          method: "session/load",
          params: { sessionId: hub.sessionId, cwd: "/", mcpServers: [] },
        }),
      );
    });
    samples.push({
      firstMs: firstAt - startedAt,
      allMs: performance.now() - startedAt,
      frames: frames - 1,
      bytes: client.bytes,
    });
    client.close();
  }
  await hub.stop();
  const middle = [...samples].sort((a, b) => a.allMs - b.allMs)[samples.length >> 1];
  return {
    updates,
    firstMs: round(middle.firstMs),
    allMs: round(middle.allMs),
    frames: middle.frames,
    bytes: middle.bytes,
    load: load(),
  };
}
