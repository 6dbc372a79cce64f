/** One open event stream of a hub (`GET /api/events`): what came, and its end. */
import { request } from "node:http";

export interface OpenStream {
  /** What came so far, as written. */
  readonly text: () => string;
  /** Resolves when the hub ended it. */
  readonly ended: Promise<void>;
  close(): void;
}

/** Resolves with the open stream, or with the status it was refused with. */
export function openEventStream(port: number, headers: Record<string, string>): Promise<OpenStream | number> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port, path: "/api/events", agent: false, headers });
    asked.on("error", reject);
    asked.on("response", (response) => {
      if (response.statusCode !== 200) {
        response.resume();
        resolve(response.statusCode ?? 0);
        return;
      }
      let text = "";
      response.setEncoding("utf8");
      const ended = new Promise<void>((done) => response.on("close", () => done()));
      response.on("error", () => undefined);
      response.on("data", (chunk: string) => {
        // A hub that ends it cuts the connection; that is no error of the stream.
        if (text === "") resolve({ text: () => text, ended, close: () => asked.destroy() });
        text += chunk;
      });
    });
    asked.end();
  });
}
