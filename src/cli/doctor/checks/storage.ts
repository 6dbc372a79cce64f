/** Whether the running hub writes what happens. */
import { storageWords } from "../../storage-words.ts";
import type { DoctorContext } from "../context.ts";
import { type Check, fail, ok, warn } from "../finding.ts";

export const storage: Check<DoctorContext> = {
  id: "storage",
  run({ storage: health, now }) {
    if (health === undefined) return Promise.resolve([ok("no hub runs that writes a history")]);
    const { fault, lost } = storageWords(health, now());
    return Promise.resolve([
      fault === undefined ? ok("what happens is being written") : fail(fault.text, fault.fix),
      ...(lost === undefined ? [] : [warn(lost, "nothing brings it back; restarting the hub ends this reminder")]),
    ]);
  },
};
