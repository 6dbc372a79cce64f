// The cost model: straight lines through what was measured, and what they say one core holds.
import { round, slope } from "./measure.mjs";

/** Least squares through [x, y]: y = base + each · x. */
function line(points) {
  const each = slope(points);
  const mean = (at) => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  return { base: mean(1) - each * mean(0), each };
}

/** The hub's µs for an update, by the number of clients it goes to. */
function byClients(burst) {
  return line(burst.map(({ clients, hub }) => [clients, hub.serverMicrosPerDelivery * clients]));
}

/** The hub's µs for an update to all clients of the run, by its size in kB. */
function bySize(sizes) {
  return line(sizes.map(({ bytes, clients, hub }) => [bytes / 1000, hub.serverMicrosPerDelivery * clients]));
}

const MICROS_PER_SECOND = 1e6;

/** Undefined where a scenario it is made of has not run, or with too few points for a line. */
export function costModel({ burst, sizes, idle, fleet }) {
  if ((burst?.result.length ?? 0) < 2) return undefined;
  const { base, each } = byClients(burst.result);
  const bridge = burst.result[0].hub.bridgeMicrosPerUpdate;
  const perUpdate = (clients) => base + each * clients;
  return {
    hubMicrosPerUpdate: round(base),
    hubMicrosPerUpdateAndClient: round(each, 3),
    bridgeMicrosPerUpdate: round(bridge),
    ...(sizes !== undefined && {
      hubMicrosPerKilobyte: round(bySize(sizes.result).each),
      clientsOfTheKilobyte: sizes.result[0].clients,
    }),
    ...(idle !== undefined && { kbPerIdleConnection: idle.result.kbEach }),
    ...(fleet !== undefined && { hubMicrosPerPacedUpdate: round(fleet.result.hub.microsPerDelivery) }),
    updatesPerSecondOfOneCore: Object.fromEntries(
      [1, 10, 100, 1000].map((clients) => [clients, Math.round(MICROS_PER_SECOND / perUpdate(clients))]),
    ),
  };
}
