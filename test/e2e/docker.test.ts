import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { validate } from "dockerfile-utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { COMMANDS } from "../../src/cli/commands.ts";
import { wordsOf } from "../../src/cli/completions/words.ts";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import { type Instruction, isIgnored, parseDockerfile, readCopy, readExec } from "../support/dockerfile.ts";

const BUILD = process.env["HUB_BUILD_DIR"] ?? "dist";
const instructions = parseDockerfile(readFileSync("Dockerfile", "utf8"));
const ignore = readFileSync(".dockerignore", "utf8");
const all = (name: string): Instruction[] => instructions.filter((each) => each.name === name);
const last = (name: string): Instruction => {
  const found = all(name).at(-1);
  if (found === undefined) throw new Error(`the Dockerfile has no ${name}`);
  return found;
};

describe("the image, without an engine to build it", () => {
  it("is a Dockerfile by a parser of its own, with nothing to complain of", () => {
    expect(validate(readFileSync("Dockerfile", "utf8"))).toEqual([]);
    expect(validate("FROM a\nWORKDIRS /x\n")).not.toEqual([]);
  });

  it("names its base by version, in every stage", () => {
    const bases = all("FROM").map(({ rest }) => rest.split(/\s+/)[0] ?? "");
    expect(bases.length).toBe(2);
    expect(bases.filter((base) => !/^[a-z0-9/.-]+:(?!latest)[\w.-]+$/.test(base))).toEqual([]);
  });

  it("installs no more than it names, and keeps no package lists", () => {
    const lines = all("RUN").filter(({ rest }) => rest.includes("apt-get install"));
    expect(lines.length).toBe(1);
    for (const { rest } of lines) {
      expect(rest).toContain("apt-get update");
      expect(rest).toContain("--no-install-recommends");
      expect(rest).toContain("rm -rf /var/lib/apt/lists/*");
    }
  });

  it("builds from the lock file, without install scripts", () => {
    const [install] = all("RUN").filter(({ rest }) => rest.startsWith("npm ci"));
    expect(install?.rest).toContain("--ignore-scripts");
    const earlier = all("COPY")
      .filter(({ line }) => line < (install?.line ?? 0))
      .flatMap((each) => readCopy(each).sources);
    expect(earlier).toEqual(expect.arrayContaining(["package.json", "package-lock.json"]));
  });

  it("every source of a COPY is there, and what the build needs is not kept out", () => {
    const fromHere = all("COPY")
      .map(readCopy)
      .filter(({ from }) => from === undefined)
      .flatMap(({ sources }) => sources);
    expect(fromHere.filter((source) => !existsSync(source))).toEqual([]);
    const needed = [
      ...fromHere.filter((source) => source !== "."),
      "build.mjs",
      "tsconfig.json",
      "src/cli/main.ts",
      "src/web/index.html",
    ];
    expect(needed.filter((path) => !existsSync(path))).toEqual([]);
    expect(needed.filter((path) => isIgnored(ignore, path))).toEqual([]);
    expect(["node_modules", "dist", ".git", "test/x"].filter((path) => !isIgnored(ignore, path))).toEqual([]);
  });

  it("runs as nobody special, its data alone is a volume", () => {
    expect(last("USER").rest).toBe("node");
    expect(last("USER").line).toBeLessThan(last("CMD").line);
    expect(all("VOLUME").map(({ rest }) => rest)).toEqual(["/data"]);
    expect(last("ENV").rest).toContain("ACP_HUB_HOME=/data");
    const made = all("RUN").find(({ rest }) => rest.includes("install -d"));
    expect(made?.rest).toMatch(/-o node .*-m 0700 \/data/);
    expect(made?.line).toBeLessThan(last("VOLUME").line);
  });

  it("C1.address exposes and watches the port the hub takes by default", () => {
    const port = String(DEFAULT_CONFIG.port);
    expect(last("EXPOSE").rest).toBe(port);
    expect(readExec(last("HEALTHCHECK"))?.join(" ")).toContain(`127.0.0.1:${port}/healthz`);
  });

  it("C1.serve its command is serve, with options serve has", async () => {
    const words = readExec(last("CMD")) ?? [];
    const entry = COMMANDS.get(words[0] ?? "");
    if (entry === undefined) throw new Error(`there is no command ${words[0]}`);
    const { options } = wordsOf("serve", entry.summary, (await entry.load()).command.usage);
    expect(words[0]).toBe("serve");
    expect(words.filter((word) => word.startsWith("--") && !options.includes(word))).toEqual([]);
  });

  it("the compose file builds it, stays on this computer, and names an address the hub answers for", () => {
    const text = readFileSync("deploy/compose.yaml", "utf8");
    const published = [...text.matchAll(/^\s+- "([\d.:]+)"$/gm)].map((match) => match[1]);
    expect(published).toEqual([`127.0.0.1:${DEFAULT_CONFIG.port}:${DEFAULT_CONFIG.port}`]);
    expect(text).toMatch(/context: \.\.\n/);
    expect(text).toMatch(/ACP_HUB_PUBLIC_URL: "http:\/\/127\.0\.0\.1:8377"/);
    expect(text).toContain(":/data");
    for (const line of ["read_only: true", "no-new-privileges:true", "      - ALL"]) expect(text).toContain(line);
  });
});

describe("what the last stage copies", () => {
  let image: string;
  beforeAll(() => {
    expect(existsSync(join(BUILD, "cli/main.js")), "dist/ is not built: npm run build").toBe(true);
    image = mkdtempSync(join(tmpdir(), "acp-hub-image-"));
    const final = instructions.filter(({ name, stage }) => name === "COPY" && stage === last("FROM").stage);
    for (const { sources, target } of final.map(readCopy))
      for (const source of sources) place(source.replace(/^\/app\//, ""), join(image, target));
  });
  afterAll(() => rmSync(image, { recursive: true }));

  /** Packages are the repository's own: what pruning leaves out is a check of its own, by the packages the build imports. */
  function place(source: string, target: string): void {
    const from = source === "dist" ? BUILD : source;
    expect(existsSync(from), `COPY --from=build /app/${source}`).toBe(true);
    const to = target.endsWith("/") || existsSync(target) ? join(target, basename(source)) : target;
    if (source === "node_modules") symlinkSync(resolve(source), to);
    else {
      mkdirSync(join(to, ".."), { recursive: true });
      cpSync(from, to, { recursive: true });
    }
  }

  it("is enough: its entry point with its command listens and answers", async () => {
    const entry = readExec(last("ENTRYPOINT")) ?? [];
    const script = entry.find((word) => word.endsWith(".js"))?.replace(/^\/app/, image) ?? "";
    // The later options win: a test stays on the loopback, on a port of its own.
    const args = [script, ...(readExec(last("CMD")) ?? []), "--host", "127.0.0.1", "--port", "0"];
    const env = { PATH: process.env["PATH"], ACP_HUB_HOME: join(image, "data"), NODE_ENV: "production" };
    const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    let text = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
    const ended = new Promise((done) => child.once("close", done));
    const files = (): string[] => readdirSync(image).sort();
    const before = files();
    try {
      await expect.poll(() => /listening on (http\S+)/.exec(text)?.[1] ?? text, { timeout: 20_000 }).toMatch(/^http/);
      const url = /listening on (http\S+)/.exec(text)?.[1] ?? "";
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      expect((await fetch(url)).headers.get("content-type")).toContain("text/html");
    } finally {
      child.kill("SIGTERM");
      await ended;
    }
    // The compose file gives it a root it cannot write.
    expect(files()).toEqual([...new Set([...before, "data"])].sort());
  });

  it("imports only packages that are left after pruning", () => {
    const { dependencies, optionalDependencies } = JSON.parse(readFileSync("package.json", "utf8")) as Record<
      string,
      Record<string, string>
    >;
    const kept = new Set([...Object.keys(dependencies ?? {}), ...Object.keys(optionalDependencies ?? {})]);
    const main = packagesOf(join(image, "dist"));
    expect(main.size).toBeGreaterThan(5);
    expect([...main].filter((name) => !kept.has(name))).toEqual([]);
  });
});

const IMPORT = /(?:from|import)\s*\(?\s*"((?:@[\w.-]+\/)?[a-z][\w.-]*)(?:\/[^"]*)?"/g;

/** What the built command line imports, Node's own left out. The app for browsers is complete in itself. */
function packagesOf(dist: string): Set<string> {
  const files = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter(
    (name) => /\.js$/.test(name) && !name.startsWith("web"),
  );
  const names = files.flatMap((name) =>
    [...readFileSync(join(dist, name), "utf8").matchAll(IMPORT)].map(([, id]) => id ?? ""),
  );
  return new Set(names.filter((name) => !isBuiltin(name)));
}
