/** All checks, in the order they are printed. */
import { agents } from "./checks/agents.ts";
import { clock } from "./checks/clock.ts";
import { configuration } from "./checks/configuration.ts";
import { database } from "./checks/database.ts";
import { disk } from "./checks/disk.ts";
import { editors } from "./checks/editors.ts";
import { exposure } from "./checks/exposure.ts";
import { hostList } from "./checks/host-list.ts";
import { hubRunning } from "./checks/hub-running.ts";
import { mdns } from "./checks/mdns.ts";
import { nodeVersion } from "./checks/node-version.ts";
import { permissions } from "./checks/permissions.ts";
import { port } from "./checks/port.ts";
import { service } from "./checks/service.ts";
import { sockets } from "./checks/sockets.ts";
import { storage } from "./checks/storage.ts";
import { tls } from "./checks/tls.ts";
import { tunnels } from "./checks/tunnels.ts";
import type { DoctorContext } from "./context.ts";
import type { Check } from "./finding.ts";

export const CHECKS: readonly Check<DoctorContext>[] = [
  nodeVersion,
  configuration,
  permissions,
  database,
  disk,
  storage,
  hubRunning,
  sockets,
  port,
  exposure,
  hostList,
  tls,
  clock,
  mdns,
  agents,
  editors,
  service,
  tunnels,
];
