import { once } from "node:events";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { callHub } from "../../../src/cli/local-api.ts";
import { runTunnel, type TunnelPorts } from "../../../src/cli/tunnel/run-tunnel.ts";
import { tunnelTool } from "../../../src/cli/tunnel/tools.ts";
import { tunnelRoutes } from "../../../src/hub/http/tunnel-routes.ts";
import { TunnelNames } from "../../../src/hub/tunnel-names.ts";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";

const URL_OF_TUNNEL = "https://four-words-of-luck.trycloudflare.com";

describe("a tunnel", () => {
  let hub: HubHarness;
  let bin: string;
  beforeEach(async () => {
    const tunnels = new TunnelNames();
    hub = await startHub({ edge: { tunnels }, routes: () => [tunnelRoutes(tunnels)] });
    bin = mkdtempSync(join(tmpdir(), "acp-hub-bin-"));
    symlinkSync(resolve("test/support/fake-cloudflared.mjs"), join(bin, "cloudflared"));
  });
  afterEach(async () => {
    await hub.stop();
    rmSync(bin, { recursive: true });
  });

  const ports = (env: Record<string, string>, over: Partial<TunnelPorts> = {}): TunnelPorts => ({
    env: { PATH: `${bin}${delimiter}${process.env["PATH"]}`, ...env },
    onLine: () => undefined,
    onUrl: () => Promise.resolve(),
    renew: () => Promise.resolve(),
    renewMs: 30_000,
    signal: new AbortController().signal,
    ...over,
  });
  const tool = tunnelTool("cloudflared", { port: 1, isTls: false }, false);
  /** What a browser behind the tunnel sends. */
  const upgrade = async (): Promise<string> => {
    const headers = { authorization: "Bearer driver:phone", host: new URL(URL_OF_TUNNEL).host, origin: URL_OF_TUNNEL };
    const socket = new WebSocket(`ws://127.0.0.1:${hub.port}/acp`, ["acp"], { headers });
    const outcome = await Promise.race([
      once(socket, "open").then(() => "open"),
      once(socket, "unexpected-response").then(([, response]) =>
        String((response as { statusCode: number }).statusCode),
      ),
    ]);
    socket.once("error", () => undefined);
    socket.terminate();
    return outcome;
  };

  it("C3.order the hub answers for a tunnel's name once the tunnel's command told it, and not before or after", async () => {
    expect(await upgrade()).toBe("403");
    const controller = new AbortController();
    let during = "";
    const onUrl = async (url: string): Promise<void> => {
      expect(url).toBe(URL_OF_TUNNEL);
      expect((await callHub(hub.paths, "POST", "/api/tunnels", { url })).status).toBe(201);
      during = await upgrade();
      controller.abort();
    };
    await runTunnel(tool, ports({ FAKE_TUNNEL_URL: URL_OF_TUNNEL }, { onUrl, signal: controller.signal }));
    expect(during).toBe("open");
    expect((await callHub(hub.paths, "DELETE", "/api/tunnels", { url: URL_OF_TUNNEL })).status).toBe(204);
    expect(await upgrade()).toBe("403");
  });

  it("C3.order over the network not even the owner opens a name", async () => {
    const response = await fetch(`${hub.url}/api/tunnels`, {
      method: "POST",
      headers: { authorization: "Bearer owner:phone", "content-type": "application/json" },
      body: JSON.stringify({ url: URL_OF_TUNNEL }),
    });
    expect(response.status).toBe(403);
    expect((await callHub(hub.paths, "POST", "/api/tunnels", { url: "file:///etc" })).status).toBe(422);
  });

  it("is renewed while it runs", async () => {
    const controller = new AbortController();
    const renewed: string[] = [];
    const renew = async (url: string): Promise<void> => {
      renewed.push(url);
      if (renewed.length === 2) controller.abort();
    };
    const { signal } = controller;
    await runTunnel(tool, ports({ FAKE_TUNNEL_URL: URL_OF_TUNNEL }, { renew, renewMs: 10, signal }));
    expect(renewed.slice(0, 2)).toEqual([URL_OF_TUNNEL, URL_OF_TUNNEL]);
  });

  it("that ends by itself, or whose tool is not there, is an error that says so", async () => {
    await expect(runTunnel(tool, ports({}))).rejects.toThrow("cloudflared ended (exit code 1)");
    await expect(runTunnel(tool, ports({ PATH: "/nonexistent" }))).rejects.toThrow(
      "cloudflared is not installed: https://",
    );
  });
});
