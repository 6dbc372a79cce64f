/** Who can reach the hub, and whether others can read along. */
import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { isLoopback } from "../../../hub/edge.ts";
import { isEveryAddress } from "../../../hub/local-url.ts";
import type { DoctorContext } from "../context.ts";
import { type Check, type Finding, fail, ok, warn } from "../finding.ts";

export const exposure: Check<DoctorContext> = {
  id: "exposure",
  run: ({ configuration: { config }, info }) => {
    const host = info?.host ?? config.host;
    const isTls = info?.tls ?? (config.tls.selfSigned || config.tls.cert !== undefined);
    const found: Omit<Finding, "id">[] = [];
    const own = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map((each) => each.address));
    if (
      isIP(config.host) !== 0 &&
      !isEveryAddress(config.host) &&
      !isLoopback(config.host) &&
      !own.includes(config.host)
    )
      found.push(
        fail(
          `host is ${config.host}, which is no address of this computer`,
          'set host to "0.0.0.0" or to one of its addresses',
        ),
      );
    if (!isLoopback(host) && !isTls)
      found.push(
        warn(
          `the hub listens on ${host} without TLS: others on the network can read along`,
          "set tls.selfSigned, give tls.cert and tls.key, or bind to 127.0.0.1 and use a tunnel",
        ),
      );
    const { publicUrl } = config;
    if (publicUrl?.startsWith("http:") && !isLoopback(new URL(publicUrl).hostname))
      found.push(warn("publicUrl is plain HTTP: links lead through readable connections", "give it an https address"));
    if (found.length === 0)
      found.push(
        ok(
          isLoopback(host)
            ? `only this computer reaches the hub (${host})`
            : `the network reaches the hub on ${host}, with TLS`,
        ),
      );
    return Promise.resolve(found);
  },
};
