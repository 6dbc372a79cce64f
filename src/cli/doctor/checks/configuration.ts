/** Whether the configuration can be used, and what in it nobody knows. */

import type { DoctorContext } from "../context.ts";
import { type Check, fail, ok, warn } from "../finding.ts";

export const configuration: Check<DoctorContext> = {
  id: "config",
  run: ({ configuration: { problems, warnings }, paths }) => {
    const found = [
      ...problems.map((problem) => fail(`the configuration cannot be used: ${problem}`, `mend ${paths.configFile}`)),
      ...warnings.map((warning) => warn(warning, `see ${paths.configFile}`)),
    ];
    return Promise.resolve(found.length > 0 ? found : [ok("the configuration is in order")]);
  },
};
