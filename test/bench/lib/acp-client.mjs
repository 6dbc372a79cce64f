// What a remote client says: a socket that has initialized, and one that has loaded a session.
import { CountingClient } from "./counting-client.mjs";
import { sleep } from "./measure.mjs";

/** Sends a request and resolves with its answer; `onText` sees what comes before it. */
export function request(client, id, method, params, onText = () => undefined) {
  const mark = `"id":${id},"result"`;
  const failed = `"id":${id},"error"`;
  return new Promise((resolve, reject) => {
    client.listen((text) => {
      if (text.includes(failed)) reject(new Error(text.slice(0, 500)));
      else if (text.includes(mark)) resolve(JSON.parse(text).result);
      else onText(text);
    });
    client.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
  });
}

export async function initialized({ port, path, headers }, capabilities = {}) {
  const client = await CountingClient.open(port, path, headers);
  await request(client, 1, "initialize", { protocolVersion: 1, clientCapabilities: capabilities });
  return client;
}

/** `history`: "none" for live updates alone; `cursor`: what it has. */
export function load(client, sessionId, ours = {}, onText = undefined) {
  const params = { sessionId, cwd: "/", mcpServers: [], _meta: { "acp-hub": ours } };
  return request(client, 2, "session/load", params, onText);
}

/** Waits until the hub knows a session: its editor may be told of it first, and no list shows one that was never used. */
export async function known(address, sessionId) {
  const client = await initialized(address);
  const until = performance.now() + 10_000;
  for (;;) {
    const refused = await load(client, sessionId, { history: "none" }).then(
      () => undefined,
      (error) => error,
    );
    if (refused === undefined) break;
    if (performance.now() > until) throw refused;
    await sleep(20);
  }
  client.close();
}

/** A client that has loaded the session: from then on it gets every update live, and counts them. */
export async function attached(address, sessionId) {
  const client = await initialized(address);
  await load(client, sessionId, { history: "none" });
  client.listen(undefined);
  return client;
}
