/** Writes what gives and takes rights, and other things, one after the other, and says on stdout where each begins and ends. */
import { writeSync } from "node:fs";
import { join } from "node:path";
import { writePrivateFile } from "../../src/auth/private-file.ts";
import { openStore } from "../../src/store/open-store.ts";
import { chunk, device, E1, keyOf } from "./store-samples.ts";

const dir = process.argv[2] ?? "";
const { store } = openStore({
  path: join(dir, "hub.db"),
  onError: (error) => console.error(error),
  // Nothing happens in the background.
  scheduler: { now: Date.now, monotonic: () => 0, after: () => () => undefined },
});
const { devices, journal, audit } = store;
const credential = { id: "c", deviceId: device("phone").deviceId, kind: "refresh", secretHash: "first", createdAt: 1 };

const STEPS = {
  journal: () => {
    journal.append(keyOf("a"), E1, [chunk(1, "x")]);
    journal.flush();
  },
  audit: () => audit.append({ at: 1, actor: { deviceId: "phone", name: "n" }, action: "x" }),
  putDevice: () => devices.putDevice(device("phone")),
  seen: () => devices.seen(credential.deviceId, 1, "192.0.2.7"),
  putCredential: () => devices.putCredential(credential),
  replaceSecret: () => devices.replaceSecret("c", "first", { secretHash: "second", expiresAt: 9 }),
  revoke: () => devices.putDevice(device("phone", { revokedAt: 2 })),
  deleteCredentials: () => devices.deleteCredentials(credential.deviceId),
  newFile: () => writePrivateFile(join(dir, "key.json"), "{}"),
  sameFile: () => writePrivateFile(join(dir, "key.json"), "[]"),
};

for (const [name, step] of Object.entries(STEPS)) {
  writeSync(1, `begin ${name}\n`);
  await step();
  writeSync(1, `end ${name}\n`);
}
store.close();
