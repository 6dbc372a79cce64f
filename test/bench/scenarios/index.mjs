// Every scenario, in the order of a whole run.
import { attach } from "./attach.mjs";
import { burst } from "./burst.mjs";
import { catchup } from "./catchup.mjs";
import { compression } from "./compression.mjs";
import { fleet } from "./fleet.mjs";
import { idle } from "./idle.mjs";
import { joins } from "./joins.mjs";
import { memory } from "./memory.mjs";
import { paced } from "./paced.mjs";
import { race } from "./race.mjs";
import { sizes } from "./sizes.mjs";
import { soak } from "./soak.mjs";
import { stalled } from "./stalled.mjs";
import { startup } from "./startup.mjs";
import { store } from "./store.mjs";
import { storm } from "./storm.mjs";
import { web } from "./web.mjs";
import { webSoak } from "./web-soak.mjs";
import { zcode } from "./zcode.mjs";

/** {summary, defaults, tiny, run(options) → result, budgets(result, about) → [what, figure, "max" | "min", limit][], rows(result)}. */
export const SCENARIOS = {
  burst,
  paced,
  sizes,
  memory,
  fleet,
  race,
  joins,
  catchup,
  attach,
  startup,
  idle,
  stalled,
  storm,
  compression,
  store,
  zcode,
  soak,
  web,
  "web-soak": webSoak,
};
