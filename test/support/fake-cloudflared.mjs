#!/usr/bin/env node
// Prints what cloudflared prints, as a test says in its environment: FAKE_TUNNEL_URL, or nothing and the end.
process.stderr.write("INF Requesting new quick Tunnel on trycloudflare.com...\n");
const url = process.env.FAKE_TUNNEL_URL;
if (url === undefined) process.exit(1);
// In two writes: an address may be cut anywhere.
process.stderr.write(`INF |  ${url.slice(0, 15)}`);
setTimeout(() => process.stderr.write(`${url.slice(15)}  |\n`), 20);
setInterval(() => undefined, 1000);
