/** The hub's log (pino). Constant messages; fields are ids, sizes, codes; what could carry a secret is redacted. */
import { destination, type Logger, pino } from "pino";
import { rotatingLogFile } from "./log-file.ts";

export type HubLog = Logger;

/** Paths a careless field could put a secret under. */
const REDACTED = [
  "token",
  "accessToken",
  "refreshToken",
  "code",
  "ticket",
  "authorization",
  "cookie",
  "*.token",
  "*.authorization",
  "*.cookie",
];

/** `file` undefined: to stderr. */
export function hubLog(level: string, file: string | undefined): HubLog {
  const options = { level, base: { pid: process.pid }, redact: { paths: REDACTED, censor: "[redacted]" } };
  return pino(options, file === undefined ? destination({ dest: 2, sync: true }) : rotatingLogFile(file));
}
