/** A `Transport` as the stream the ACP SDK's typed apps connect to: for agents and clients that live in this process. */
import type { Stream } from "@agentclientprotocol/sdk";
import type { Transport } from "../transport/transport.ts";

/** Starts the transport. Junk is refused to its sender, as an agent does; back-pressure holds in both directions. */
export function sdkStream(transport: Transport): Stream {
  let wake: () => void = () => undefined;
  const readable: Stream["readable"] = new ReadableStream({
    start(controller) {
      transport.start({
        onFrame(frame) {
          controller.enqueue(frame.msg);
          if ((controller.desiredSize ?? 0) <= 0) transport.pause();
        },
        onJunk: (refusal) => void transport.send(JSON.stringify(refusal)),
        onDrain: () => wake(),
        onClose() {
          wake();
          closeQuietly(controller);
        },
      });
    },
    pull: () => transport.resume(),
    cancel: () => transport.close(),
  });
  const writable: Stream["writable"] = new WritableStream({
    write(message) {
      if (transport.send(JSON.stringify(message)) || transport.isClosed) return;
      return new Promise<void>((resolve) => {
        wake = resolve;
      });
    },
    close: () => transport.close(),
    abort: () => transport.close(),
  });
  return { readable, writable };
}

/** The reader may have cancelled before; closing twice throws. */
function closeQuietly(controller: ReadableStreamDefaultController): void {
  try {
    controller.close();
  } catch {
    // Nobody reads any more: nothing is lost.
  }
}
