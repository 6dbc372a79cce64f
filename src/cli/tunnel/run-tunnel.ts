/** Runs a tunnel tool until it ends or is told to: waits for its public address and keeps the hub answering for it. */
import { type ChildProcess, spawn } from "node:child_process";
import type { TunnelTool } from "./tools.ts";

export interface TunnelPorts {
  readonly env: NodeJS.ProcessEnv;
  /** The tool's own words, line by line. */
  onLine(line: string): void;
  /** The address is known: the hub is told, the way in is shown. A rejection ends the tunnel. */
  onUrl(url: string): Promise<void>;
  /** Every `renewMs` from then on. */
  renew(url: string): Promise<void>;
  readonly renewMs: number;
  /** Ends the tunnel. */
  readonly signal: AbortSignal;
}

export class TunnelError extends Error {}

const URL_LIMIT_MS = 60_000;
const KILL_AFTER_MS = 5000;
const OUTPUT_MAX = 65_536;

/** Resolves when the tunnel was told to end; rejects with `TunnelError` when the tool is missing, ends by itself or gives no address. */
export async function runTunnel(tool: TunnelTool, ports: TunnelPorts): Promise<void> {
  const child = spawn(tool.command, [...tool.args], { env: ports.env, stdio: ["ignore", "pipe", "pipe"] });
  const ended = endOf(child, tool);
  const stop = (): void => end(child);
  ports.signal.addEventListener("abort", stop, { once: true });
  try {
    const url = await Promise.race([addressOf(child, tool, ports.onLine), ended]);
    if (url !== undefined) {
      await ports.onUrl(url);
      await renewUntil(ended, url, ports);
    }
    if (!ports.signal.aborted) throw new TunnelError(`${tool.command} ended (${endWords(child)})`);
  } finally {
    ports.signal.removeEventListener("abort", stop);
    end(child);
    await ended.catch(() => undefined);
  }
}

function endOf(child: ChildProcess, tool: TunnelTool): Promise<undefined> {
  return new Promise((resolve, reject) => {
    child.once("error", (error: NodeJS.ErrnoException) =>
      reject(
        new TunnelError(
          error.code === "ENOENT"
            ? `${tool.command} is not installed: ${tool.install}`
            : `${tool.command} could not be started: ${error.message}`,
          { cause: error },
        ),
      ),
    );
    child.once("close", () => resolve(undefined));
  });
}

function addressOf(child: ChildProcess, tool: TunnelTool, onLine: (line: string) => void): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = "";
    /** The line that is not whole yet. */
    let open = "";
    const timer = setTimeout(
      () => reject(new TunnelError(`${tool.command} gave no public address within ${URL_LIMIT_MS / 1000} s`)),
      URL_LIMIT_MS,
    );
    child.once("close", () => clearTimeout(timer));
    const read = (chunk: Buffer): void => {
      const text = chunk.toString("utf8");
      const lines = (open + text).split("\n");
      open = lines.pop() ?? "";
      for (const line of lines) if (line.trim() !== "") onLine(line);
      output = (output + text).slice(-OUTPUT_MAX);
      const url = tool.findUrl(output);
      if (url === undefined) return;
      clearTimeout(timer);
      resolve(url);
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
  });
}

async function renewUntil(ended: Promise<undefined>, url: string, ports: TunnelPorts): Promise<void> {
  // A hub that restarts does not know the tunnel any more; the next renewal tells it.
  const timer = setInterval(() => void ports.renew(url).catch(() => undefined), ports.renewMs);
  try {
    await ended;
  } finally {
    clearInterval(timer);
  }
}

function end(child: ChildProcess): void {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), KILL_AFTER_MS);
  child.once("close", () => clearTimeout(timer));
}

const endWords = ({ exitCode, signalCode }: ChildProcess): string =>
  signalCode === null ? `exit code ${exitCode}` : signalCode;
