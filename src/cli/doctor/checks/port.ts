/** Whether the hub has the port it is to have, and who has it otherwise. */
import { createServer } from "node:net";
import { whoHolds } from "../../port-owner.ts";
import type { DoctorContext } from "../context.ts";
import { type Check, fail, ok, warn } from "../finding.ts";

export const port: Check<DoctorContext> = {
  id: "port",
  async run({ configuration: { config }, info, hub }) {
    const wanted = config.port;
    if (hub !== undefined && info !== undefined) {
      if (wanted === 0 || info.port === wanted) return [ok(`the hub has port ${info.port}`)];
      const who = await holder(wanted);
      return [
        warn(
          `the hub is on port ${info.port}, not ${wanted}${who === undefined ? "" : `, which ${who} has`}`,
          "free the port or set another one, then restart the hub: links and bookmarks hold the port",
        ),
      ];
    }
    if (wanted === 0 || (await isFree(config.host, wanted))) return [ok(`port ${wanted} is free for the hub`)];
    const who = (await holder(wanted)) ?? "another program";
    return [fail(`port ${wanted} is taken by ${who}`, "end it, or set another port in the configuration")];
  },
};

const holder = (number: number): Promise<string | undefined> => whoHolds(number).catch(() => undefined);

function isFree(host: string, number: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    // An address this machine does not have is the exposure check's finding.
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code !== "EADDRINUSE"));
    server.listen({ host, port: number, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
