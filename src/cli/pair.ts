/** `acp-hub pair`: a one-time way in for a phone or browser. */
import { readArgs, readDuration } from "./args.ts";
import type { Command } from "./command.ts";
import { EXIT } from "./exit.ts";
import { homePaths } from "./home.ts";
import { readHubUrl, readScope } from "./hub-args.ts";
import { callHubOk } from "./local-api.ts";
import { type PairingWords, pairingText } from "./pairing-words.ts";

const USAGE =
  "acp-hub pair [--scope viewer|approver|driver|owner] [--name N] [--ttl 5m] [--url U] [--json] [--home DIR]";

const OPTIONS = {
  scope: { type: "string" },
  name: { type: "string" },
  ttl: { type: "string" },
  url: { type: "string" },
  json: { type: "boolean" },
  home: { type: "string" },
} as const;

export const command: Command = {
  usage: USAGE,
  async run(argv) {
    const { values } = readArgs(argv, OPTIONS, USAGE, 0);
    const paths = homePaths(values.home);
    const ttlSeconds = readDuration("--ttl", values.ttl);
    const scope = readScope(values.scope) ?? "driver";
    const url = readHubUrl(values.url);
    // The code lives in the hub that will take it: without one running there is nothing to pair with.
    const made = (await callHubOk(paths, "POST", "/api/pairings", {
      scope,
      ...(values.name !== undefined && { name: values.name }),
      ...(url !== undefined && { url }),
      ...(ttlSeconds !== undefined && { ttlSeconds }),
    })) as PairingWords;
    process.stdout.write(values.json === true ? `${JSON.stringify(made)}\n` : await pairingText(made));
    if (values.json !== true && /\/\/(127\.|localhost|\[::1\])/.test(made.url)) {
      process.stderr.write(
        "This address works on this computer only. For a phone, bind to the LAN (serve --host) or give --url of a tunnel.\n",
      );
    }
    return EXIT.ok;
  },
};
