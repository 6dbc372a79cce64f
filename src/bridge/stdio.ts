/** The pipe an editor started us with: ACP on stdin and stdout. */
import { ndjsonTransport } from "../transport/ndjson.ts";
import type { Transport } from "../transport/transport.ts";

export const stdioTransport = (): Transport => ndjsonTransport(process.stdin, process.stdout);
