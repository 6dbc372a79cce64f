// Makes races show: every socket and pipe of the process hears what came in a random moment late, in its order. Loaded by
// `npm run test:jitter` into the tests and, by NODE_OPTIONS, into every Node process they start. JITTER_MS is the usual most;
// one chunk in twenty takes up to six times as long, as on a machine that does something else just then.
import { Socket } from "node:net";
import { Readable } from "node:stream";

const mostMs = Number(process.env.JITTER_MS ?? 0);
// Tests may replace the timers later.
const { setTimeout: later, performance: clock } = globalThis;
const push = Readable.prototype.push;
const waiting = new WeakMap();
/** More than this waits in the kernel: who stops reading must be felt by who writes. */
const HELD_MAX = 64 * 1024;

function delayMs() {
  const kind = Math.random();
  if (kind < 0.6) return (Math.random() * mostMs) / 8;
  return Math.random() * mostMs * (kind < 0.95 ? 1 : 6);
}

/** What the stream does itself on a push that says "enough"; ours said "go on" when the chunk came. */
function stopReading(socket) {
  const handle = socket._handle;
  if (!handle?.reading) return;
  handle.reading = false;
  handle.readStop?.();
}

function pushLate(chunk, encoding) {
  const queue = waiting.get(this) ?? { chunks: [], bytes: 0, dueAt: 0 };
  waiting.set(this, queue);
  const now = clock.now();
  queue.dueAt = Math.max(queue.dueAt, now + delayMs());
  queue.chunks.push([chunk, encoding]);
  queue.bytes += chunk?.length ?? 0;
  later(() => {
    const next = queue.chunks.shift();
    queue.bytes -= next[0]?.length ?? 0;
    if (!this.destroyed && !push.apply(this, next)) stopReading(this);
  }, queue.dueAt - now);
  return queue.bytes < HELD_MAX;
}

if (mostMs > 0) Socket.prototype.push = pushLate;
