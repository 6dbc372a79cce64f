import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { dirname, join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agents } from "../../../src/cli/doctor/checks/agents.ts";
import { clock } from "../../../src/cli/doctor/checks/clock.ts";
import { configuration } from "../../../src/cli/doctor/checks/configuration.ts";
import { database } from "../../../src/cli/doctor/checks/database.ts";
import { disk } from "../../../src/cli/doctor/checks/disk.ts";
import { editors } from "../../../src/cli/doctor/checks/editors.ts";
import { exposure } from "../../../src/cli/doctor/checks/exposure.ts";
import { hostList } from "../../../src/cli/doctor/checks/host-list.ts";
import { hubRunning } from "../../../src/cli/doctor/checks/hub-running.ts";
import { mdns } from "../../../src/cli/doctor/checks/mdns.ts";
import { nodeVersion } from "../../../src/cli/doctor/checks/node-version.ts";
import { permissions } from "../../../src/cli/doctor/checks/permissions.ts";
import { port } from "../../../src/cli/doctor/checks/port.ts";
import { service } from "../../../src/cli/doctor/checks/service.ts";
import { sockets } from "../../../src/cli/doctor/checks/sockets.ts";
import { tls } from "../../../src/cli/doctor/checks/tls.ts";
import { tunnels } from "../../../src/cli/doctor/checks/tunnels.ts";
import { openDatabase } from "../../../src/store/driver.ts";
import { SCHEMA_VERSION } from "../../../src/store/migrations.ts";
import { type DoctorMachine, doctorMachine, examine } from "../../support/doctor-context.ts";
import { startHub } from "../../support/hub-harness.ts";
import { freePort, makeCertificate } from "../../support/proxies.ts";

let machine: DoctorMachine;
beforeEach(() => {
  machine = doctorMachine();
});
afterEach(() => machine.remove());

const info = (over = {}) => ({
  pid: process.pid,
  host: "127.0.0.1",
  port: 1,
  basePath: "",
  tls: false,
  version: "0.1.0",
  startedAt: 0,
  ...over,
});
const answering = { status: 200, text: "", date: Date.now() };

function listen(target: { path: string } | { port: number; host: string }): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  return new Promise((done) => server.listen(target, () => done(server)));
}
const close = (server: Server): Promise<void> => new Promise((done) => server.close(() => done()));

describe("doctor: the runtime and the files", () => {
  it("C1.daemon node: old is a failure, without SQLite a warning", async () => {
    const look = (version: string) => examine(nodeVersion, { ...machine.context, nodeVersion: version });
    expect((await look("20.18.3"))[0]).toMatch(/^fail Node 20.18.3 is too old -> install/);
    expect((await look("20.19.0"))[0]).toMatch(/^warn .*better-sqlite3/);
    expect(await look("22.13.0")).toEqual(["ok Node 22.13.0, with SQLite built in"]);
    expect(await look("24.0.0")).toEqual(["ok Node 24.0.0, with SQLite built in"]);
  });

  it("C1.daemon config: what is wrong and what nobody knows is told with the file", async () => {
    expect(await examine(configuration, machine.context)).toEqual(["ok the configuration is in order"]);
    const broken = {
      ...machine.context.configuration,
      problems: ["port must be a number"],
      warnings: ['"prot" is unknown'],
    };
    const found = await examine(configuration, { ...machine.context, configuration: broken });
    expect(found[0]).toMatch(/^fail .*port must be a number -> mend .*config.json$/);
    expect(found[1]).toMatch(/^warn "prot" is unknown/);
  });

  it("C1.files permissions: an open directory and a writable file fail, a readable file warns, with the command that mends it", async () => {
    const { paths } = machine.context;
    writeFileSync(join(paths.keysDir, "token.key"), "", { mode: 0o600 });
    writeFileSync(paths.database, "", { mode: 0o600 });
    writeFileSync(join(paths.logDir, "hub.log"), "", { mode: 0o600 });
    expect(await examine(permissions, machine.context)).toEqual(["ok only you can read the hub's files"]);
    chmodSync(paths.keysDir, 0o755);
    chmodSync(paths.database, 0o644);
    chmodSync(join(paths.logDir, "hub.log"), 0o620);
    expect((await examine(permissions, machine.context)).sort()).toEqual([
      `fail ${paths.keysDir} is open to others (mode 0755) -> chmod 700 ${paths.keysDir}`,
      `fail ${paths.logDir}/hub.log is open to others (mode 0620) -> chmod 600 ${paths.logDir}/hub.log`,
      `warn ${paths.database} is open to others (mode 0644) -> chmod 600 ${paths.database}`,
    ]);
  });

  it("C1.daemon database: absent, good, of a later version, not a database", async () => {
    const { paths } = machine.context;
    expect((await examine(database, machine.context))[0]).toContain("no database yet");
    const made = openDatabase(paths.database);
    made.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
    expect((await examine(database, machine.context))[0]).toMatch(
      /^ok the database opens \((node:sqlite|better-sqlite3), 1 MiB\)$/,
    );
    made.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
    made.close();
    expect((await examine(database, machine.context))[0]).toMatch(/^fail the database is of a newer acp-hub/);
    writeFileSync(paths.database, "x".repeat(8192));
    expect((await examine(database, machine.context))[0]).toMatch(
      /^fail .*not a database.* -> stop the hub and start it/,
    );
    expect(readFileSync(paths.database, "utf8")).toBe("x".repeat(8192));
  });

  it("C1.daemon disk: the free space is told", async () => {
    expect((await examine(disk, machine.context))[0]).toMatch(/\d+ MiB are free/);
    rmSync(machine.context.paths.dataDir, { recursive: true });
    expect(await examine(disk, machine.context)).toEqual(["ok the data directory is not there yet"]);
  });

  it("C1.daemon clock: the file system's and the hub's are compared with this one's", async () => {
    expect(await examine(clock, machine.context)).toEqual(["ok the clocks agree"]);
    const slow = machine.with({ hub: { ...answering, date: Date.now() - 10_000 } });
    expect((await examine(clock, slow))[0]).toMatch(/^warn the hub's clock is 10 s behind/);
    // A little less, for what the file takes.
    const wrong = machine.with({ now: () => Date.now() + 599_600 });
    expect((await examine(clock, wrong))[0]).toMatch(/^fail the file system's clock is 600 s behind/);
    expect((await examine(clock, machine.with({ now: () => 0 })))[0]).toMatch(/^fail the clock says 1970/);
  });
});

describe("doctor: the hub", () => {
  it("C1.daemon hub: running, of another version, dead, silent", async () => {
    const look = (over: Parameters<DoctorMachine["with"]>[0]) => examine(hubRunning, machine.with(over));
    expect((await look({}))[0]).toMatch(/^ok no hub runs/);
    expect((await look({ hub: answering, info: info() }))[0]).toBe(`ok hub 0.1.0 is ready, pid ${process.pid}`);
    expect((await look({ hub: answering, info: info({ version: "0.0.9" }) }))[0]).toMatch(
      /^warn the hub is version 0.0.9, this is 0.1.0/,
    );
    expect((await look({ hub: { ...answering, status: 503 }, info: info() }))[0]).toMatch(/^warn the hub is starting/);
    expect((await look({ hub: answering }))[0]).toMatch(/^fail .*hub.json is missing/);
    expect((await look({ info: info({ pid: 2 ** 22 + 1 }) }))[0]).toMatch(/^warn a hub died/);
    expect((await look({ info: info() }))[0]).toMatch(/^fail pid \d+ says it is the hub but does not answer/);
  });

  it("C1.daemon sockets: alive, left over, no socket, gone under a hub", async () => {
    const { paths } = machine.context;
    expect(await examine(sockets, machine.context)).toEqual(["ok the local sockets are in order"]);
    const server = await listen({ path: paths.linkSocket });
    expect(await examine(sockets, machine.context)).toEqual(["ok the local sockets are in order"]);
    expect((await examine(sockets, machine.with({ hub: answering })))[0]).toMatch(/^fail .*api.sock is gone although/);
    await close(server);
    leaveSocket(paths.linkSocket);
    writeFileSync(paths.apiSocket, "");
    const found = await examine(sockets, machine.context);
    expect(found[0]).toMatch(/^warn .*link.sock is left from a hub that died/);
    expect(found[1]).toMatch(/^fail .*api.sock is not a socket -> rm /);
  });

  it("C1.address port: who has it, and where the hub is instead", async () => {
    const number = await freePort();
    expect(await examine(port, machine.with({ config: { port: number } }))).toEqual([
      `ok port ${number} is free for the hub`,
    ]);
    const server = await listen({ port: number, host: "127.0.0.1" });
    const taken = await examine(port, machine.with({ config: { port: number } }));
    expect(taken[0]).toMatch(new RegExp(`^fail port ${number} is taken by .*\\(pid ${process.pid}\\)`));
    const moved = await examine(
      port,
      machine.with({ config: { port: number }, hub: answering, info: info({ port: 5 }) }),
    );
    expect(moved[0]).toMatch(
      new RegExp(`^warn the hub is on port 5, not ${number}, which .*\\(pid ${process.pid}\\) has`),
    );
    expect(await examine(port, machine.with({ hub: answering, info: info({ port: 8377 }) }))).toEqual([
      "ok the hub has port 8377",
    ]);
    await close(server);
  });

  it("C1.address exposure: beyond loopback without TLS, a plain public address, an address that is not ours", async () => {
    expect(await examine(exposure, machine.context)).toEqual(["ok only this computer reaches the hub (127.0.0.1)"]);
    const open = await examine(exposure, machine.with({ config: { host: "0.0.0.0" } }));
    expect(open[0]).toMatch(/^warn the hub listens on 0.0.0.0 without TLS/);
    const safe = await examine(exposure, machine.with({ config: { host: "0.0.0.0", tls: { selfSigned: true } } }));
    expect(safe).toEqual(["ok the network reaches the hub on 0.0.0.0, with TLS"]);
    const plain = await examine(exposure, machine.with({ config: { publicUrl: "http://hub.example.com" } }));
    expect(plain[0]).toMatch(/^warn publicUrl is plain HTTP/);
    const foreign = await examine(
      exposure,
      machine.with({ config: { host: "192.0.2.55", tls: { selfSigned: true } } }),
    );
    expect(foreign[0]).toMatch(/^fail host is 192.0.2.55, which is no address of this computer/);
  });

  it("C3.order host list: a running hub that does not know its public address is found out", async () => {
    const config = { publicUrl: "https://hub.example.com" };
    expect((await examine(hostList, machine.context))[0]).toMatch(/^ok no publicUrl/);
    const mismatch = machine.with({ config: { publicUrl: "https://hub.example.com/hub" } });
    expect((await examine(hostList, mismatch))[0]).toMatch(/^fail publicUrl has the path "\/hub" but basePath is ""/);
    const [knows, ignorant] = [await startHub({ edge: config }), await startHub()];
    const ask = (hub: { port: number }) =>
      examine(hostList, machine.with({ config, hub: answering, info: info({ port: hub.port }) }));
    expect(await ask(knows)).toEqual(["ok the hub answers for hub.example.com"]);
    expect((await ask(ignorant))[0]).toMatch(/^fail the running hub refuses the host hub.example.com -> restart it/);
    await Promise.all([knows.stop(), ignorant.stop()]);
    expect((await ask(ignorant))[0]).toMatch(/^warn the hub does not answer/);
  });

  it("C5.discovery mdns: each state is said, failures with what to do", async () => {
    const look = async (discovery: NonNullable<Parameters<DoctorMachine["with"]>[0]["discovery"]>) =>
      (await examine(mdns, machine.with({ discovery }))).join("\n");
    const failures = [{ interface: "eth0", address: "192.0.2.1", code: "EADDRINUSE" }];
    expect(await look({ kind: "off", reason: "loopback" })).toBe(
      "ok the hub is not announced (it listens on this computer alone)",
    );
    expect(await look({ kind: "probing", name: "desk" })).toMatch(/^ok .*about to/);
    expect(await look({ kind: "no-network" })).toMatch(/^warn there is no network/);
    expect(await look({ kind: "failed", failures })).toMatch(
      /^fail .*eth0 \(EADDRINUSE\) -> another program keeps .*5353/,
    );
    expect(
      await look({ kind: "advertised", name: "desk (2)", renamedFrom: "desk", addresses: ["192.0.2.1"], failures }),
    ).toMatch(
      /^ok the hub is announced as "desk \(2\)" on 192.0.2.1, because another hub has "desk"\nwarn not announced on eth0/,
    );
    expect((await examine(mdns, machine.context))[0]).toMatch(/^ok no hub runs/);
  });
});

describe("doctor: TLS", () => {
  it("C1.daemon tls: good, soon over, over, another key, another name, unreadable", async () => {
    const certificate = makeCertificate();
    const files = { cert: certificate.certFile, key: certificate.keyFile, selfSigned: false };
    const look = async (over: Parameters<DoctorMachine["with"]>[0]) =>
      (await examine(tls, machine.with(over))).join("\n");
    expect(await look({})).toMatch(/^ok TLS is left to a proxy/);
    expect(await look({ config: { tls: files } })).toMatch(/^warn the certificate ends in 1 day/);
    expect(await look({ config: { tls: files }, now: () => Date.now() - 864e5 * 30 })).toMatch(/^fail .*not valid yet/);
    expect(await look({ config: { tls: files }, now: () => Date.now() + 864e5 * 3 })).toMatch(
      /^fail the certificate ended on 20/,
    );
    expect(await look({ config: { tls: files, publicUrl: "https://hub.example.com" } })).toContain(
      "not good for hub.example.com",
    );
    expect(await look({ config: { tls: files, publicUrl: "https://localhost" } })).not.toContain("not good for");
    const other = join(machine.root, "other.pem");
    execFileSync("openssl", ["ecparam", "-genkey", "-name", "prime256v1", "-noout", "-out", other]);
    expect(await look({ config: { tls: { ...files, key: other } } })).toMatch(/^fail .*is not the key of/);
    writeFileSync(other, "nonsense");
    expect(await look({ config: { tls: { ...files, cert: other } } })).toMatch(/^fail .*cannot be read/);
    expect(await look({ config: { tls: { ...files, cert: "/nonexistent" } } })).toContain("(ENOENT)");
    expect(await look({ config: { tls: { selfSigned: true } } })).toMatch(/^ok the hub makes its certificate/);
    certificate.remove();
  });
});

describe("doctor: what is around the hub", () => {
  it("C1.daemon agents: a profile's command is looked for on its own PATH", async () => {
    expect((await examine(agents, machine.context))[0]).toMatch(/^ok no agent profiles/);
    const bin = join(machine.root, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "my-agent"), "", { mode: 0o755 });
    writeFileSync(join(bin, "not-executable"), "", { mode: 0o644 });
    const profile = (command: string, env = {}) => ({ command, args: [], env });
    const found = await examine(
      agents,
      machine.with({
        config: {
          agents: {
            a: profile("my-agent"),
            b: profile("my-agent", { PATH: bin }),
            c: profile(join(bin, "my-agent")),
            d: profile("not-executable", { PATH: bin }),
          },
        },
      }),
    );
    expect(found.map((line) => line.split(" ")[0])).toEqual(["fail", "ok", "ok", "fail"]);
    expect(found[0]).toContain("my-agent is not on the PATH -> install it");
  });

  it("C1.daemon editors: an entry is found, and one whose program is gone", async () => {
    const file = join(machine.context.home, ".config/zed/settings.json");
    mkdirSync(dirname(file), { recursive: true });
    expect((await examine(editors, machine.context))[0]).toMatch(/^warn no editor's settings name acp-hub/);
    const entry = (node: string, script: string) =>
      `{ // mine\n "agent_servers": { "x": { "command": "${node}", "args": ["${script}", "bridge", "demo"] }, "y": { "command": "z" } }, }`;
    const script = join(machine.root, "acp-hub.js");
    writeFileSync(script, "");
    writeFileSync(file, entry(process.execPath, script));
    expect(await examine(editors, machine.context)).toEqual(['ok Zed runs "x" through acp-hub']);
    writeFileSync(file, entry("/gone/node", script));
    expect((await examine(editors, machine.context))[0]).toMatch(
      /^fail Zed runs "x" with \/gone\/node, which is not there/,
    );
    rmSync(script);
    writeFileSync(file, entry(process.execPath, script));
    expect((await examine(editors, machine.context))[0]).toContain(`with ${script}, which is not there`);
  });

  it("C1.service service: none, and one that runs a Node that was removed", async () => {
    expect((await examine(service, machine.context))[0]).toMatch(/^ok no service is installed/);
    const unit = join(machine.context.home, ".config/systemd/user/acp-hub.service");
    mkdirSync(dirname(unit), { recursive: true });
    writeFileSync(unit, 'ExecStart="/gone/bin/node" "/gone/main.js" "serve"\n');
    expect((await examine(service, machine.context))[0]).toMatch(
      /^fail the service runs \/gone\/bin\/node, which is not there/,
    );
    const [bin, memory] = [join(machine.root, "bin"), join(machine.root, "memory")];
    for (const dir of [bin, memory]) mkdirSync(dir);
    symlinkSync(resolve("test/support/fake-supervisor.mjs"), join(bin, "systemctl"));
    writeFileSync(unit, `ExecStart="${process.execPath}" "serve"\n`);
    const env = { ...machine.context.env, PATH: `${bin}:${process.env["PATH"]}`, FAKE_SUPERVISOR_DIR: memory };
    expect((await examine(service, { ...machine.context, env }))[0]).toMatch(
      /^warn the service is installed but not running/,
    );
  });

  it("C1.daemon tunnels: the tools that are here are named", async () => {
    const bin = join(machine.root, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "frpc"), "", { mode: 0o755 });
    expect(await examine(tunnels, machine.with({ env: { PATH: bin } }))).toEqual(["ok installed here: frpc"]);
    expect((await examine(tunnels, machine.with({ env: { PATH: "" } })))[0]).toContain("no tunnel tool is installed");
  });
});

/** A socket file nobody listens on any more. */
function leaveSocket(path: string): void {
  const script = `require("net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`;
  try {
    execFileSync(process.execPath, ["-e", script], { stdio: "pipe" });
  } catch {
    // It killed itself: that is how sockets are left.
  }
}
