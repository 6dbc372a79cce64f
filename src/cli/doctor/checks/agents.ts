/** Whether the agents of the configuration can be started from here. */

import type { DoctorContext } from "../context.ts";
import { findCommand } from "../find-command.ts";
import { type Check, fail, ok } from "../finding.ts";

export const agents: Check<DoctorContext> = {
  id: "agents",
  async run({ configuration: { config }, env }) {
    const profiles = Object.entries(config.agents);
    if (profiles.length === 0) return [ok("no agent profiles are configured; demo and zcode are built in")];
    return Promise.all(
      profiles.map(async ([name, { command, env: own }]) => {
        const path = own["PATH"] ?? env["PATH"] ?? "";
        const found = await findCommand(command, path);
        if (found !== undefined) return ok(`agent ${name} is ${found}`);
        return fail(
          `agent ${name}: ${command} is not on the PATH`,
          "install it, or give its absolute path in the configuration",
        );
      }),
    );
  },
};
