// The editor's side of a bridge: requests and answers on its pipe, and a look at when updates come.
import { lines } from "./processes.mjs";

export class Editor {
  #child;
  #answers = new Map();
  #nextId = 0;
  updates = 0;
  /** The longest time between two updates, in ms, since `watchGaps`. */
  longestGapMs = 0;
  #lastAt = 0;
  #watches = false;

  constructor(child) {
    this.#child = child;
    lines(child, (line) => this.#onLine(line));
  }

  call(method, params) {
    this.#nextId += 1;
    const id = this.#nextId;
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return new Promise((resolve) => this.#answers.set(id, resolve));
  }

  prompt(sessionId, text) {
    return this.call("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  }

  /** Initializes the agent and opens a session. */
  async open() {
    await this.call("initialize", { protocolVersion: 1, clientCapabilities: {} });
    return await this.newSession();
  }

  async newSession() {
    const { sessionId } = await this.call("session/new", { cwd: "/", mcpServers: [] });
    return sessionId;
  }

  watchGaps() {
    this.#watches = true;
    this.#lastAt = performance.now();
    this.longestGapMs = 0;
  }

  #onLine(line) {
    if (line.startsWith('{"jsonrpc":"2.0","method":"session/update"')) this.#onUpdate();
    else this.#onMessage(line);
  }

  #onUpdate() {
    this.updates += 1;
    if (!this.#watches) return;
    const now = performance.now();
    this.longestGapMs = Math.max(this.longestGapMs, now - this.#lastAt);
    this.#lastAt = now;
  }

  /** Questions of the agent are left to the other clients. */
  #onMessage(line) {
    const message = JSON.parse(line);
    if (message.method !== undefined) return;
    this.#answers.get(message.id)?.(message.result ?? message.error);
    this.#answers.delete(message.id);
  }
}
