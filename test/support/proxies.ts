/** Real proxies in front of a hub, each run with the very recipe of `deploy/`: only names, ports and timeouts are put in. */
import { execFileSync, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type ProxyKind = "caddy" | "nginx" | "haproxy";

export interface Certificate {
  readonly dir: string;
  /** PEM of the certificate, which is its own authority. */
  readonly ca: string;
  readonly certFile: string;
  readonly keyFile: string;
  /** Both in one file. */
  readonly bothFile: string;
  remove(): void;
}

/** Self-signed, for a name and this machine. */
export function makeCertificate(name = "localhost"): Certificate {
  const dir = mkdtempSync(join(tmpdir(), "acp-hub-cert-"));
  const [certFile, keyFile, bothFile] = ["cert.pem", "key.pem", "both.pem"].map((name) => join(dir, name)) as [
    string,
    string,
    string,
  ];
  const subject = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name},IP:127.0.0.1`];
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  execFileSync("openssl", ["req", "-x509", ...key, ...subject, "-keyout", keyFile, "-out", certFile], {
    stdio: "pipe",
  });
  const ca = readFileSync(certFile, "utf8");
  writeFileSync(bothFile, ca + readFileSync(keyFile, "utf8"));
  return { dir, ca, certFile, keyFile, bothFile, remove: () => rmSync(dir, { recursive: true }) };
}

export interface RunningProxy {
  /** https://localhost:PORT */
  readonly url: string;
  /** Everything it printed and logged so far. */
  output(): string;
  stop(): Promise<void>;
}

export interface ProxyOptions {
  readonly hubPort: number;
  readonly port: number;
  readonly certificate: Certificate;
  /** Instead of the 90 s of the recipes, which stand for three lost pings. */
  readonly idleSeconds?: number;
}

/** Below those that systems give out by themselves: nobody who takes any port gets it before it is used. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

export async function startProxy(kind: ProxyKind, options: ProxyOptions): Promise<RunningProxy> {
  const dir = mkdtempSync(join(tmpdir(), `acp-hub-${kind}-`));
  const { command, args } = RECIPES[kind](dir, options);
  // Caddy keeps state in the home; it must not be the developer's.
  const env = { ...process.env, HOME: dir, XDG_DATA_HOME: dir, XDG_CONFIG_HOME: dir };
  const child = spawn(command, args, { env, cwd: dir });
  let printed = "";
  const note = (chunk: Buffer): void => {
    printed += chunk.toString();
  };
  child.stdout.on("data", note);
  child.stderr.on("data", note);
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const output = (): string => printed + readLogs(dir);
  await listening(options.port, () => child.exitCode !== null, output);
  return {
    url: `https://localhost:${options.port}`,
    output,
    async stop() {
      child.kill("SIGTERM");
      // Connections still open are no reason to wait: their ends are the test's.
      const timer = setTimeout(() => child.kill("SIGKILL"), 1000);
      await ended;
      clearTimeout(timer);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

type Recipe = (dir: string, options: ProxyOptions) => { command: string; args: string[] };

const RECIPES: Record<ProxyKind, Recipe> = {
  caddy(dir, { hubPort, port, certificate }) {
    const text = recipe("Caddyfile", [
      ["hub.example.com {", `localhost:${port} {\n\ttls ${certificate.certFile} ${certificate.keyFile}`],
      ["127.0.0.1:8377 {", `127.0.0.1:${hubPort} {`],
    ]);
    const file = join(dir, "Caddyfile");
    writeFileSync(file, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${text}`);
    return { command: "caddy", args: ["run", "--config", file, "--adapter", "caddyfile"] };
  },
  nginx(dir, { hubPort, port, certificate, idleSeconds }) {
    mkdirSync(join(dir, "logs"));
    const text = recipe("nginx.conf", [
      ["listen 443 ssl;", `listen 127.0.0.1:${port} ssl;`],
      ["server_name hub.example.com;", "server_name localhost;"],
      ["/etc/ssl/hub.example.com/fullchain.pem", certificate.certFile],
      ["/etc/ssl/hub.example.com/privkey.pem", certificate.keyFile],
      ["/var/log/nginx/acp-hub.log", join(dir, "logs/access.log")],
      ["server 127.0.0.1:8377;", `server 127.0.0.1:${hubPort};`],
      ...idle(idleSeconds, ["proxy_read_timeout 90s", "proxy_send_timeout 90s"]),
    ]);
    writeFileSync(join(dir, "acp-hub.conf"), text);
    const main = `daemon off; worker_processes 1; pid ${dir}/nginx.pid; error_log stderr notice;
events {} http { client_body_temp_path ${dir}/b; proxy_temp_path ${dir}/p; fastcgi_temp_path ${dir}/f; uwsgi_temp_path ${dir}/u; scgi_temp_path ${dir}/s; include ${dir}/acp-hub.conf; }`;
    writeFileSync(join(dir, "main.conf"), main);
    return { command: "nginx", args: ["-p", dir, "-c", join(dir, "main.conf")] };
  },
  haproxy(dir, { hubPort, port, certificate, idleSeconds }) {
    const text = recipe("haproxy.cfg", [
      ["bind :443 ssl crt /etc/haproxy/hub.example.com.pem", `bind 127.0.0.1:${port} ssl crt ${certificate.bothFile}`],
      ["server hub 127.0.0.1:8377", `server hub 127.0.0.1:${hubPort}`],
      ...idle(idleSeconds, ["timeout client 90s", "timeout server 90s", "timeout tunnel 90s"]),
    ]);
    writeFileSync(join(dir, "haproxy.cfg"), text);
    return { command: "haproxy", args: ["-db", "-f", join(dir, "haproxy.cfg")] };
  },
};

const idle = (seconds: number | undefined, lines: readonly string[]): [string, string][] =>
  seconds === undefined ? [] : lines.map((line) => [line, line.replace("90s", `${seconds}s`)]);

/** A recipe with its placeholders replaced; one that is not in it any more is an error. */
function recipe(name: string, replacements: readonly (readonly [string, string])[]): string {
  return replacements.reduce(
    (text, [from, to]) => {
      if (!text.includes(from)) throw new Error(`deploy/${name} does not hold "${from}"`);
      return text.replace(from, () => to);
    },
    readFileSync(join("deploy", name), "utf8"),
  );
}

function readLogs(dir: string): string {
  try {
    return readFileSync(join(dir, "logs/access.log"), "utf8");
  } catch {
    return "";
  }
}

async function listening(port: number, hasEnded: () => boolean, output: () => string): Promise<void> {
  const deadline = Date.now() + 15_000;
  while (!(await canConnect(port))) {
    if (hasEnded() || Date.now() > deadline) throw new Error(`the proxy did not start: ${output()}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
