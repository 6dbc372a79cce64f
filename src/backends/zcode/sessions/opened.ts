/** What the results of new, load, resume and fork say about a session. */
import type { JsonObject } from "../../../protocol/json.ts";
import { configOptions, modeState } from "../translate/config-options.ts";
import type { Session } from "./session.ts";

export const availableConfig = (session: Session): JsonObject => ({
  modes: modeState(session.settings),
  configOptions: configOptions(session.settings),
});
