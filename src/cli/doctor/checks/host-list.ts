/** Whether the hub answers for the address it gives to people. */
import { hostAndPort, isEveryAddress } from "../../../hub/local-url.ts";
import { askPort } from "../ask-local.ts";
import type { DoctorContext } from "../context.ts";
import { type Check, fail, ok, warn } from "../finding.ts";

export const hostList: Check<DoctorContext> = {
  id: "host-list",
  async run({ configuration: { config }, info, hub }) {
    const { publicUrl, basePath } = config;
    if (publicUrl === undefined) return [ok("no publicUrl is set: the hub answers for its own addresses")];
    const url = new URL(publicUrl);
    const path = url.pathname.replace(/\/$/, "");
    if (path !== basePath)
      return [
        fail(
          `publicUrl has the path "${path}" but basePath is "${basePath}"`,
          "make them the same: the hub puts basePath in front of everything",
        ),
      ];
    if (hub === undefined || info === undefined) return [ok(`publicUrl is ${url.origin}; no hub runs to ask`)];
    const address = isEveryAddress(info.host) ? "127.0.0.1" : info.host;
    const answer = await askPort(address, info.port, info.tls, `${info.basePath}/healthz`, url.host);
    if (answer === undefined)
      return [warn(`the hub does not answer on ${hostAndPort(address, info.port)}`, "see the check of the hub itself")];
    if (answer.status === 403)
      return [
        fail(`the running hub refuses the host ${url.host}`, "restart it so that it knows publicUrl: acp-hub stop"),
      ];
    return answer.status === 200
      ? [ok(`the hub answers for ${url.host}`)]
      : [warn(`the hub answers ${answer.status} for ${url.host}`, "restart it: acp-hub stop")];
  },
};
