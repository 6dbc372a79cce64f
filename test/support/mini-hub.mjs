// What a service starts, as far as `service install` can see: a ready hub on the local socket. `fail` in its home: it ends at once.
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const home = process.argv[process.argv.indexOf("--home") + 1];
if (existsSync(join(home, "fail"))) process.exit(1);
const run = join(home, "run");
mkdirSync(run, { recursive: true });
const socket = join(run, "api.sock");
rmSync(socket, { force: true });
const server = createServer((request, response) => {
  response.statusCode = request.url === "/readyz" || request.url === "/healthz" ? 200 : 404;
  response.end("{}");
});
server.listen(socket, () => {
  const info = { pid: process.pid, host: "127.0.0.1", port: 1, basePath: "", tls: false, version: "0", startedAt: 0 };
  writeFileSync(
    join(run, "hub.json"),
    JSON.stringify({ ...info, path: process.env.PATH, args: process.argv.slice(2) }),
  );
});
process.on("SIGTERM", () => {
  rmSync(join(run, "hub.json"), { force: true });
  rmSync(socket, { force: true });
  process.exit(0);
});
