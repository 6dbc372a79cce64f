import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import { delimiter, join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Finding } from "../../src/cli/doctor/finding.ts";
import { Home } from "../support/cli.ts";
import { freePort, makeCertificate } from "../support/proxies.ts";

/** A home with tools of our own in front of the PATH. */
function withTools(home: Home, tools: Record<string, string>): Record<string, string> {
  const [bin, memory] = [join(home.dir, "bin"), join(home.dir, "memory")];
  for (const dir of [bin, memory]) mkdirSync(dir);
  for (const [name, file] of Object.entries(tools)) symlinkSync(resolve("test/support", file), join(bin, name));
  return { PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}`, FAKE_SUPERVISOR_DIR: memory };
}

describe("operating a hub", () => {
  let home: Home;
  beforeEach(() => {
    home = new Home();
  });
  afterEach(() => home.remove());

  if (process.platform === "linux")
    it("C1.service the service is installed, serves, is found by doctor, and is gone without a trace", async () => {
      const port = await freePort();
      writeFileSync(join(home.dir, "config.json"), JSON.stringify({ port }), { mode: 0o600 });
      const env = withTools(home, { systemctl: "fake-supervisor.mjs", loginctl: "fake-supervisor.mjs" });
      const installed = await home.run(["service", "install"], env);
      expect(installed).toMatchObject({ code: 0, stdout: "" });
      expect(installed.stderr).toContain("The service is installed and ready.");
      const status = await home.run(["status"], env);
      expect(status.stdout).toContain(`http://127.0.0.1:${port}`);
      const { stdout } = await home.run(["doctor", "--json"], env);
      const findings = JSON.parse(stdout) as Finding[];
      expect(findings.filter(({ level }) => level === "fail")).toEqual([]);
      expect(findings.find(({ id }) => id === "service")?.text).toBe("the service runs (systemd)");
      expect((await home.run(["logs"], env)).stdout).toContain("hub listening");
      expect((await home.run(["service", "uninstall"], env)).code).toBe(0);
      expect((await home.run(["status"], env)).code).toBe(3);
      expect(readdirSync(join(home.dir, ".config"))).toEqual([]);
    });

  it("C1.config with a certificate of its own the hub starts, and answers with it at once and after a restart", async () => {
    writeFileSync(join(home.dir, "config.json"), JSON.stringify({ tls: { selfSigned: true } }), { mode: 0o600 });
    for (let start = 0; start < 2; start++) {
      const { url, port, child } = await home.serve();
      expect(url).toMatch(/^https:/);
      const ca = readFileSync(join(home.dir, "keys/tls.crt"));
      const status = await new Promise((done, failed) => {
        const request = get({ host: "127.0.0.1", port, path: "/healthz", ca, agent: false }, (response) => {
          response.resume();
          done(response.statusCode);
        });
        request.once("error", failed);
      });
      expect(status).toBe(200);
      child.kill("SIGTERM");
      await once(child, "exit");
    }
  });

  it("C1.config a certificate that is not there, or not of its key, is named and nothing listens", async () => {
    const [one, other] = [makeCertificate(), makeCertificate()];
    try {
      const refused = async (cert: string, key: string): Promise<string> => {
        writeFileSync(join(home.dir, "config.json"), JSON.stringify({ tls: { cert, key } }), { mode: 0o600 });
        const { code, stdout, stderr } = await home.run(["serve", "--port", "0"]);
        expect([code, stdout]).toEqual([2, ""]);
        return stderr;
      };
      expect(await refused("/nowhere.pem", one.keyFile)).toContain("tls.cert: /nowhere.pem cannot be read (ENOENT)");
      expect(await refused(one.certFile, "/nowhere.key")).toContain("tls.key: /nowhere.key cannot be read (ENOENT)");
      expect(await refused(one.certFile, other.keyFile)).toContain(
        "tls.cert and tls.key are no certificate and its key",
      );
      expect(existsSync(join(home.dir, "run/hub.json"))).toBe(false);
    } finally {
      one.remove();
      other.remove();
    }
  });

  it("C1.serve a hub on the network says at which addresses it is reached, and pairing names one to open", async () => {
    const hub = await home.serve(["--host", "0.0.0.0"]);
    await expect.poll(hub.output).toContain("On your network: ");
    const [, addresses = ""] = /On your network: (.*)\n/.exec(hub.output()) ?? [];
    for (const address of addresses.split("  ")) expect((await fetch(`${address}/healthz`)).status).toBe(200);
    const { stdout } = await home.run(["pair"]);
    expect(stdout).toMatch(new RegExp(`or open http://\\S+:${hub.port} and type the code [0-9A-Z-]+\n`));
  });

  it("C1.pair a tunnel prints its address on stdout and a way in through it, and the hub forgets it when it ends", async () => {
    const env = withTools(home, { cloudflared: "fake-cloudflared.mjs" });
    const { url: hub } = await home.serve();
    const url = "https://four-words-of-luck.trycloudflare.com";
    const tunnel = home.spawn(["tunnel", "cloudflared"], { ...env, FAKE_TUNNEL_URL: url });
    let text = "";
    tunnel.stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    tunnel.stderr?.resume();
    const answer = async (): Promise<number> =>
      (await fetch(`${hub}/api/instances`, { headers: { origin: url } })).status;
    await expect.poll(() => text, { timeout: 15_000 }).toContain(`${url}/#pair=`);
    expect(text.startsWith(`${url}\n`)).toBe(true);
    // Its origin is let in as far as the credential, which is missing.
    expect(await answer()).toBe(401);
    tunnel.kill("SIGINT");
    expect(await once(tunnel, "exit")).toEqual([0, null]);
    expect(await answer()).toBe(403);
  });

  it("C1.exit-codes a tunnel without its tool fails, without a hub is unreachable, without a name is misused", async () => {
    const env = { PATH: "/nonexistent" };
    expect((await home.run(["tunnel", "tailscale"], env)).code).toBe(3);
    expect((await home.run(["tunnel"], env)).code).toBe(2);
    await home.serve();
    const failed = await home.run(["tunnel", "tailscale"], env);
    expect(failed.code).toBe(1);
    expect(failed.stderr).toContain("tailscale is not installed: https://tailscale.com/download");
  });

  it("setup writes this very program into an editor's settings and takes it out again", async () => {
    const file = join(home.dir, ".config/zed/settings.json");
    const env = { XDG_CONFIG_HOME: join(home.dir, ".config") };
    const written = await home.run(["setup", "zed", "--write", "--", "some-agent", "--acp"], env);
    expect(written.code).toBe(0);
    const { stdout } = await home.run(["doctor", "--json"], env);
    expect(stdout).toContain('Zed runs \\"some-agent via acp-hub\\" through acp-hub');
    expect((await home.run(["setup", "zed", "--undo"], env)).stderr).toContain("is as it was before");
    expect(existsSync(file)).toBe(false);
  });
});
