/** What single values cannot show: combinations that do not work, and ones a person should know about. */
import { isIP } from "node:net";
import { PIPE_LINE_BYTES } from "../protocol/limits.ts";
import type { Config } from "./config.ts";
import { BUILT_IN_PROFILES } from "./profiles.ts";

export interface Findings {
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

export const isLoopbackHost = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host) || host === "[::1]";

type Check = (config: Config) => readonly string[];

const when = (isTrue: boolean, words: string): readonly string[] => (isTrue ? [words] : []);

const isPlainHttp = (url: string | undefined): boolean =>
  url !== undefined && new URL(url).protocol === "http:" && !isLoopbackHost(new URL(url).hostname);

const tls: Check = ({ tls: { cert, key, selfSigned } }) => [
  ...when(cert !== undefined && key === undefined, "tls.cert needs tls.key: give both files"),
  ...when(key !== undefined && cert === undefined, "tls.key needs tls.cert: give both files"),
  ...when(selfSigned && cert !== undefined, "tls.selfSigned and tls.cert exclude each other: keep one"),
];

const urls: Check = ({ publicUrl }) => {
  if (publicUrl === undefined) return [];
  const { username, password, search, hash } = new URL(publicUrl);
  return [
    ...when(username !== "" || password !== "", "publicUrl must hold no user name or password"),
    ...when(search !== "" || hash !== "", 'publicUrl must hold no "?" or "#" part'),
  ];
};

const limits: Check = ({ limits: limit, journal }) => [
  ...when(
    limit.outboxSoftBytes > limit.outboxHardBytes,
    "limits.outboxSoftBytes must not be over limits.outboxHardBytes",
  ),
  ...when(
    limit.connectionsPerDevice > limit.connectionsMax,
    "limits.connectionsPerDevice must not be over limits.connectionsMax",
  ),
  ...when(
    limit.agentLineBytes > PIPE_LINE_BYTES,
    `limits.agentLineBytes must not be over ${PIPE_LINE_BYTES}: a longer line is not read`,
  ),
  ...when(
    limit.journalBytes > journal.maxBytes,
    "limits.journalBytes (one session) must not be over journal.maxBytes (all of them)",
  ),
];

const issuers: Check = ({ externalIssuers }) => {
  const names = externalIssuers.map((issuer) => issuer.issuer);
  const doubled = names.filter((name, index) => names.indexOf(name) !== index);
  return [
    ...doubled.map((name) => `externalIssuers names the issuer "${name}" twice`),
    ...externalIssuers.flatMap(({ issuer, jwksUrl }) =>
      when(isPlainHttp(jwksUrl), `externalIssuers: the keys of "${issuer}" must come over https`),
    ),
  ];
};

const hostName: Check = ({ host }) =>
  when(
    isIP(host.replace(/^\[|\]$/g, "")) === 0 && !/^[A-Za-z0-9.-]+$/.test(host),
    "host must be an address or a name, without scheme and port",
  );

const publicPath: Check = ({ publicUrl, basePath }) => {
  const path = publicUrl === undefined ? basePath : new URL(publicUrl).pathname.replace(/\/$/, "");
  return when(path !== basePath, `publicUrl has the path "${path}" but basePath is "${basePath}": make them the same`);
};

const exposure: Check = (config) => {
  const isCovered = config.tls.cert !== undefined || config.tls.selfSigned;
  const isOpen = !isLoopbackHost(config.host);
  const isTunnelled = config.publicUrl?.startsWith("https:") === true;
  return [
    ...when(
      isOpen && !isCovered && !isTunnelled,
      `host ${config.host} exposes the hub to the network without encryption: anyone on the way can read it. Set tls, or listen on 127.0.0.1 behind a tunnel`,
    ),
    ...when(isPlainHttp(config.publicUrl), "publicUrl is plain http: credentials travel unencrypted"),
  ];
};

const advice: Check = ({ agents, create, externalIssuers }) => [
  ...BUILT_IN_PROFILES.flatMap((name) =>
    when(Object.hasOwn(agents, name), `agents.${name} is never used: that name is built in`),
  ),
  ...when(create.roots.includes("/"), "create.roots holds /: remote clients may start agents anywhere"),
  ...externalIssuers.flatMap(({ issuer, presets, fallback }) =>
    when(
      Object.keys(presets).length === 0 && fallback === undefined,
      `externalIssuers: "${issuer}" gives nobody any rights`,
    ),
  ),
];

export function checkConfig(config: Config): Findings {
  const problems = [hostName, tls, urls, limits, issuers].flatMap((check) => check(config));
  return { problems, warnings: [publicPath, exposure, advice].flatMap((check) => check(config)) };
}
