/**
 * A process that advertises a hub, or browses, on the network it finds itself in: `advertise HOST NAME` prints each state as a JSON
 * line until its stdin ends; `browse MS` prints what it found.
 */
import { pino } from "pino";
import { findHubs, startDiscovery } from "../../src/hub/discovery.ts";

const [mode, first = "", name = "desk"] = process.argv.slice(2);

const print = (value: unknown): boolean => process.stdout.write(`${JSON.stringify(value)}\n`);

if (mode === "browse") print(await findHubs(Number(first)));
else {
  const advert = {
    id: "hub0123",
    name,
    version: "0.1.0",
    port: 8377,
    isTls: false,
    path: "/base",
    fingerprint: "SHA256:ab",
  };
  const discovery = startDiscovery({ host: first, isEnabled: true, advert, log: pino({ level: "silent" }) });
  let last = "";
  const timer = setInterval(() => {
    const text = JSON.stringify(discovery.state);
    if (text !== last) process.stdout.write(`${text}\n`);
    last = text;
  }, 20);
  process.stdin.resume();
  process.stdin.once("end", () => {
    clearInterval(timer);
    void discovery.stop();
  });
}
