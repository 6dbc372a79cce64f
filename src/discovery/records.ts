/** The records of an advertised hub. */
import { isIP } from "node:net";
import { advertHost, encodeTxt, type HubAdvert, SERVICE_TYPE } from "./advert.ts";
import type { DnsRecord, Question } from "./ports.ts";

/** What names a host lives two minutes, the rest 75 (RFC 6762 §10): addresses change. */
const HOST_TTL = 120;
const OTHER_TTL = 4500;

export const fullName = (label: string): string => `${label}.${SERVICE_TYPE}`;

/** `label` is the name in use, `addresses` what this link can reach the hub by. */
export function recordsOf(advert: HubAdvert, label: string, addresses: readonly string[]): DnsRecord[] {
  const name = fullName(label);
  const host = advertHost(advert.id);
  return [
    { type: "PTR", name: SERVICE_TYPE, ttl: OTHER_TTL, data: name },
    { type: "PTR", name: "_services._dns-sd._udp.local", ttl: OTHER_TTL, data: SERVICE_TYPE },
    { type: "SRV", name, ttl: HOST_TTL, flush: true, data: { port: advert.port, target: host } },
    { type: "TXT", name, ttl: OTHER_TTL, flush: true, data: encodeTxt(advert) },
    ...addresses.map(
      (address): DnsRecord => ({
        type: isIP(address) === 6 ? "AAAA" : "A",
        name: host,
        ttl: HOST_TTL,
        flush: true,
        data: address,
      }),
    ),
  ];
}

/** The goodbye. The pointer to the service type stays: another hub on the link may still be of it. */
export const takenBack = (records: readonly DnsRecord[]): DnsRecord[] =>
  records
    .filter((record) => record.type !== "PTR" || record.name === SERVICE_TYPE)
    .map((record) => ({ ...record, ttl: 0 }));

export const probeQuestions = (label: string): Question[] => [{ name: fullName(label), type: "ANY" }];
