import { type ChildProcess, execFileSync } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { dice, pause, roundsOr, transcriptOf } from "../support/chaos.ts";
import { Follower } from "../support/follower.ts";
import { loadOf, openSession, Stage, scripted, textPrompt } from "../support/stage.ts";

const ROUNDS = roundsOr(4);

/** A disk of its own size has to be mounted, which root on Linux alone may; the automatic run is both. */
const canMount = (): boolean => process.getuid?.() === 0 && process.platform === "linux";

/** Overwrites the end of a file with noise. */
async function scribble(path: string, bytes: number): Promise<void> {
  const { size } = statSync(path);
  const file = await open(path, "r+");
  const length = Math.min(bytes, size);
  await file.write(Buffer.alloc(length, 0xa5), 0, length, size - length);
  await file.close();
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill(signal);
  await gone;
}

describe("a disk that fails the hub", () => {
  let stage: Stage;
  let mounted: string | undefined;
  beforeEach(() => {
    stage = new Stage();
  });
  afterEach(async () => {
    try {
      await stage.end();
    } finally {
      if (mounted !== undefined) {
        execFileSync("umount", ["-l", mounted]);
        rmdirSync(mounted);
      }
      mounted = undefined;
    }
  });
  const mountSmall = (size: string): string => {
    const dir = mkdtempSync(join(tmpdir(), "acp-hub-small-"));
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size},mode=0700`, "tmpfs", dir]);
    mounted = dir;
    return dir;
  };

  it(
    `L2 S3 ${ROUNDS} kills with a torn write at the end of the database or its log: the hub starts, and all is there`,
    async () => {
      const random = dice("torn write");
      let hub = await stage.serve();
      const port = String(hub.port);
      // A credential in the part that is torn off is lost with it; this one is older: a hub that ends writes its log back.
      const token = await stage.token("viewer");
      await ended(hub.child, "SIGTERM");
      hub = await stage.serve(["--port", port]);
      const { editor, sessionId } = await stage.share({ turns: [[{ stream: { count: 150, bytes: 60, everyMs: 3 } }]] });
      const query = `?instance=${(await stage.linked())[0]?.id}`;
      const follower = new Follower({ url: () => stage.acp(query), token, sessionId });
      follower.start();
      for (let round = 0; round < ROUNDS; round += 1) {
        const turn = editor.call("session/prompt", textPrompt(sessionId, `round ${round}`));
        await pause(random.between(100, 450));
        await ended(hub.child, "SIGKILL");
        const { database } = stage.paths;
        const wal = `${database}-wal`;
        if (existsSync(wal) && statSync(wal).size > 0) {
          if (random.chance(0.5)) truncateSync(wal, random.between(0, statSync(wal).size));
          else await scribble(wal, random.between(1, 20_000));
        }
        hub = await stage.serve(["--port", port]);
        expect(await turn).toEqual({ stopReason: "end_turn" });
      }
      await stage.linked();
      const fresh = await stage.client("viewer", query);
      await fresh.call("session/load", loadOf(sessionId));
      expect(transcriptOf(fresh, true).text).toBe(transcriptOf(editor).text);
      await expect.poll(() => follower.transcript.text, { timeout: 10_000 }).toBe(transcriptOf(fresh).text);
      await follower.stop();
    },
    30_000 + ROUNDS * 6000,
  );

  it("S1 a database that is no database any more is moved aside with a word, and live sessions are whole again", async () => {
    let hub = await stage.serve();
    const { editor, sessionId } = await stage.share({ turns: [[{ say: "Said before the fault." }]] });
    await stage.linked();
    await editor.call("session/prompt", textPrompt(sessionId, "go"));
    hub.child.kill("SIGKILL");
    await new Promise((resolve) => hub.child.once("exit", resolve));
    writeFileSync(stage.paths.database, "this is no database, it is a letter\n".repeat(400));
    for (const end of ["-wal", "-shm"]) rmSync(`${stage.paths.database}${end}`, { force: true });
    hub = await stage.serve();
    await expect.poll(() => hub.output()).toMatch(/aside|damaged|corrupt/i);
    const [instance] = await stage.linked();
    const made = await stage.home.run(["token", "create", "--scope", "viewer", "--name", "new"]);
    expect(made.code).toBe(0);
    const { connectClient } = await import("../support/raw-client.ts");
    const phone = await connectClient(stage.acp(`?instance=${instance?.id}`), made.stdout.trim());
    await phone.initialize();
    await phone.call("session/load", loadOf(sessionId));
    expect(phone.textOf("agent_message_chunk")).toBe("Said before the fault.");
    phone.close();
    expect(
      readdirSync(stage.home.dir).some((name) => name.startsWith("hub.db") && !/^hub\.db(-wal|-shm)?$/.test(name)),
    ).toBe(true);
  });

  it.runIf(canMount())("L2 a full disk is said in the log, and the editor and the phones go on untouched", async () => {
    const small = mountSmall("4m");
    const filler = join(small, "filler");
    writeFileSync(filler, Buffer.alloc(1_000_000));
    const hub = stage.home.spawn(["serve", "--port", "0", "--home", small]);
    const url = await new Promise<string>((resolve) => {
      hub.stdout?.on("data", (chunk: Buffer) => {
        const match = /listening on (\S+)/.exec(chunk.toString("utf8"));
        if (match?.[1] !== undefined) resolve(match[1]);
      });
    });
    const token = (
      await stage.home.run(["token", "create", "--scope", "driver", "--name", "p", "--home", small])
    ).stdout.trim();
    const { editor } = stage.home.bridge([
      "--home",
      small,
      ...scripted({ turns: [[{ stream: { count: 4000, bytes: 2000 } }, { ask: true }]] }),
    ]);
    const sessionId = await openSession(editor);
    const { connectClient } = await import("../support/raw-client.ts");
    const phone = await connectClient(`${url.replace("http", "ws")}/acp`, token);
    await phone.initialize();
    await expect
      .poll(
        () =>
          phone.call("session/load", loadOf(sessionId)).then(
            () => true,
            () => false,
          ),
        { timeout: 5000 },
      )
      .toBe(true);
    const turn = editor.call("session/prompt", textPrompt(sessionId, "fill it"));
    const asked = await phone.nextRequest("session/request_permission");
    phone.answer(asked.id, { outcome: { outcome: "selected", optionId: "allow" } });
    expect(await turn).toEqual({ stopReason: "end_turn" });
    await expect
      .poll(() => phone.textOf("agent_message_chunk") === editor.textOf("agent_message_chunk"), { timeout: 15_000 })
      .toBe(true);
    const late = await connectClient(`${url.replace("http", "ws")}/acp`, token);
    await late.initialize();
    await late.call("session/load", loadOf(sessionId));
    expect(late.textOf("agent_message_chunk") === editor.textOf("agent_message_chunk")).toBe(true);
    expect(hub.exitCode).toBeNull();
    const storage = async (): Promise<unknown> => {
      const { stdout } = await stage.home.run(["status", "--json", "--home", small]);
      return (JSON.parse(stdout) as { storage?: unknown }).storage;
    };
    expect(await storage()).toMatchObject({ fault: { code: "disk-full" } });
    const { stdout } = await stage.home.run(["doctor", "--home", small]);
    expect(stdout).toMatch(/the disk is full.*\n.*free some space/);
    // Room again: what waited is written, and the log says what was the matter.
    rmSync(filler);
    execFileSync("mount", ["-o", "remount,size=64m", small]);
    await expect
      .poll(storage, { timeout: 15_000, interval: 200 })
      .toEqual({ waitingBytes: 0, lost: { events: 0, records: expect.any(Number) } });
    const log = (): string => readFileSync(join(small, "logs", "hub.log"), "utf8");
    await expect.poll(log, { timeout: 10_000 }).toMatch(/the disk is full|log lines were lost/);
    phone.close();
    late.close();
    editor.close();
    const ended = new Promise((resolve) => hub.once("exit", resolve));
    hub.kill("SIGTERM");
    expect(await ended).toBe(0);
  });

  it.runIf(canMount())("contract 1 a hub that cannot start on a full disk says so in words", async () => {
    const small = mountSmall("64k");
    writeFileSync(join(small, "filler"), Buffer.alloc(48_000));
    const { code, stderr } = await stage.home.run(["serve", "--port", "0", "--home", small]);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/disk|space/i);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});
