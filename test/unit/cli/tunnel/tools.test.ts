import { describe, expect, it } from "vitest";
import { tunnelTool } from "../../../../src/cli/tunnel/tools.ts";

const plain = { port: 8377, isTls: false };
const tls = { port: 8377, isTls: true };

const CLOUDFLARED = `2026-01-01T00:00:00Z INF Thank you for trying Cloudflare Tunnel. Doing so, without a Cloudflare account, is a quick way. https://www.cloudflare.com/website-terms/
2026-01-01T00:00:00Z INF Requesting new quick Tunnel on trycloudflare.com...
2026-01-01T00:00:00Z ERR failed to request quick Tunnel: Post "https://api.trycloudflare.com/tunnel": retrying
`;
const BANNER = `2026-01-01T00:00:01Z INF |  https://four-words-of-luck.trycloudflare.com                     |
`;
const TAILSCALE = `Available within your tailnet:

https://desk.tail1234.ts.net/
|-- proxy http://127.0.0.1:8377

Press Ctrl+C to exit.
`;

describe("tunnel tools", () => {
  it("cloudflared's address is found in its banner, not its links or its errors", () => {
    const tool = tunnelTool("cloudflared", plain, false);
    expect(tool.findUrl(CLOUDFLARED)).toBeUndefined();
    expect(tool.findUrl(CLOUDFLARED + BANNER)).toBe("https://four-words-of-luck.trycloudflare.com");
  });

  it("tailscale's address is found, for the tailnet and for everyone", () => {
    const tool = tunnelTool("tailscale", plain, false);
    expect(tool.findUrl(TAILSCALE)).toBe("https://desk.tail1234.ts.net");
    expect(tool.findUrl("To enable, visit https://login.tailscale.com/f/serve?node=x")).toBeUndefined();
    expect(tool.args).toEqual(["serve", "http://127.0.0.1:8377"]);
    expect(tunnelTool("tailscale", plain, true).args[0]).toBe("funnel");
  });

  it("a hub with a certificate of its own is dialled with TLS", () => {
    expect(tunnelTool("cloudflared", tls, false).args).toContain("--no-tls-verify");
    expect(tunnelTool("tailscale", tls, false).args[1]).toBe("https+insecure://127.0.0.1:8377");
  });
});
