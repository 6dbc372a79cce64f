import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { SERVICE_TYPE } from "../../../src/discovery/advert.ts";
import type { BrowseResult } from "../../../src/discovery/browse.ts";
import { type Bundle, bundle } from "../../support/bundle.ts";
import { type LineProcess, missingForTwoMachines, TwoMachines } from "../../support/two-machines.ts";

const missing = missingForTwoMachines();

/** On a developer's machine without root this is left out; in the automatic run what is missing is a failure. */
const isDue = missing === undefined || process.env["CI"] !== undefined;

/** A name as avahi-browse prints it: bytes that are no letters as \\DDD. */
const unescaped = (text: string): string =>
  text.replaceAll(/\\(\d{3})/g, (_match, code: string) => String.fromCharCode(Number(code)));

/** The latest resolved line of a service: `=;interface;protocol;name;type;domain;host;address;port;txt`. */
const resolved = (lines: readonly string[], name: string): string | undefined =>
  lines.findLast((line) => line.startsWith("=") && unescaped(line.split(";")[3] ?? "") === name);

describe.runIf(isDue)("on a LAN with Avahi", () => {
  let lan: TwoMachines;
  let program: Bundle;
  let running: LineProcess[] = [];
  beforeAll(async () => {
    expect(missing).toBeUndefined();
    program = await bundle("test/support/discovery-agent.ts");
    lan = new TwoMachines();
    await lan.startAvahi();
  });
  afterEach(async () => {
    await Promise.all(running.map((process) => process.kill()));
    running = [];
  });
  afterAll(async () => {
    await lan.stop();
    program.remove();
  });

  const started = (process: LineProcess): LineProcess => {
    running.push(process);
    return process;
  };
  const advertise = (host: string, name: string): LineProcess =>
    started(lan.runHere(process.execPath, [program.file, "advertise", host, name]));
  const browse = (): LineProcess => started(lan.runThere("avahi-browse", ["-rp", SERVICE_TYPE.replace(".local", "")]));
  const isAdvertised = (hub: LineProcess, name: string): Promise<void> =>
    expect.poll(() => hub.lines.at(-1) ?? hub.errors, { timeout: 10_000 }).toContain(`"advertised","name":"${name}"`);

  it("C5.discovery Avahi finds the hub with its TXT record and address, and sees it say goodbye", async () => {
    const browser = browse();
    const hub = advertise("0.0.0.0", "desk");
    await expect.poll(() => resolved(browser.lines, "desk"), { timeout: 15_000 }).toBeDefined();
    const [, , , , , , host, address, port, txt] = resolved(browser.lines, "desk")?.split(";") ?? [];
    expect([host, address, port]).toEqual(["acp-hub-hub0123.local", lan.here, "8377"]);
    expect(txt?.match(/"[^"]*"/g)?.sort()).toEqual([
      '"auth=required"',
      '"fp=SHA256:ab"',
      '"id=hub0123"',
      '"path=/base"',
      '"tls=0"',
      '"version=0.1.0"',
    ]);
    hub.child.stdin.end();
    await hub.ended;
    await expect
      .poll(() => browser.lines.some((line) => line.startsWith("-") && line.includes(";desk;")), { timeout: 15_000 })
      .toBe(true);
  });

  it("C5.discovery a name Avahi's machine has is not taken twice", async () => {
    const other = started(lan.runThere("avahi-publish", ["-s", "taken", "_acp-hub._tcp", "9", "id=other"]));
    await expect.poll(() => other.errors + other.lines.join(), { timeout: 10_000 }).toContain("Established");
    const hub = advertise("0.0.0.0", "taken");
    await isAdvertised(hub, "taken (2)");
    const browser = browse();
    await expect.poll(() => resolved(browser.lines, "taken (2)"), { timeout: 15_000 }).toBeDefined();
    await expect.poll(() => resolved(browser.lines, "taken"), { timeout: 15_000 }).toBeDefined();
  });

  it("C5.discovery an address that comes and one that goes are announced", async () => {
    const hub = advertise("0.0.0.0", "mover");
    await isAdvertised(hub, "mover");
    lan.address("del", lan.here);
    lan.address("add", "192.0.2.77");
    try {
      await expect.poll(() => hub.lines.at(-1), { timeout: 15_000 }).toContain('"addresses":["192.0.2.77"]');
      const browser = browse();
      await expect.poll(() => resolved(browser.lines, "mover")?.split(";")[7], { timeout: 15_000 }).toBe("192.0.2.77");
    } finally {
      lan.address("del", "192.0.2.77");
      lan.address("add", lan.here);
    }
  });

  it("C5.discovery discover finds a hub that Avahi publishes", async () => {
    const txt = ["id=there", "version=9", "tls=1", "path=", "fp=x", "auth=required"];
    const other = started(lan.runThere("avahi-publish", ["-s", "their hub", "_acp-hub._tcp", "4433", ...txt]));
    await expect.poll(() => other.errors + other.lines.join(), { timeout: 10_000 }).toContain("Established");
    const finder = started(lan.runHere(process.execPath, [program.file, "browse", "3000"]));
    await finder.ended;
    const { hubs } = JSON.parse(finder.lines[0] ?? "{}") as BrowseResult;
    expect(hubs).toMatchObject([{ id: "there", name: "their hub", urls: [`https://${lan.there}:4433`] }]);
  });

  it("C5.discovery a loopback hub sends nothing", async () => {
    const hub = advertise("127.0.0.1", "hidden");
    await expect.poll(() => hub.lines.at(-1) ?? hub.errors).toBe('{"kind":"off","reason":"loopback"}');
  });
});
