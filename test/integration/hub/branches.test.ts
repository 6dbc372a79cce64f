/** The branch of a session's directory, in the lists: read from git's own files, told when it changes. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readBranch } from "../../../src/hub/git-branch.ts";
import type { JsonObject } from "../../../src/protocol/json.ts";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";
import { puppetAgent } from "../../support/puppet-agent.ts";
import { rawClient } from "../../support/raw-client.ts";

let dir: string;
const git = (...args: string[]): string =>
  execFileSync("git", ["-C", dir, "-c", "user.name=t", "-c", "user.email=t@t", ...args], { encoding: "utf8" });
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "acp-hub-branch-"));
  git("init", "-q", "-b", "main");
  git("commit", "-q", "--allow-empty", "-m", "first");
});
afterEach(() => rmSync(dir, { recursive: true }));

describe("what git's files say", () => {
  it("C3.instances a branch, from anywhere below; a name with slashes; a commit without one; a further worktree", async () => {
    mkdirSync(join(dir, "a/b"), { recursive: true });
    expect([await readBranch(dir), await readBranch(join(dir, "a/b"))]).toEqual(["main", "main"]);
    git("switch", "-q", "-c", "fix/über-race");
    expect(await readBranch(dir)).toBe("fix/über-race");
    git("worktree", "add", "-q", "-b", "second", join(dir, "tree"));
    expect(await readBranch(join(dir, "tree"))).toBe("second");
    git("switch", "-q", "--detach");
    expect(await readBranch(dir)).toBe(git("rev-parse", "--short=7", "HEAD").trim());
  });

  it("C3.instances nothing outside of a repository, and nothing of files that are not as git writes them", async () => {
    expect(await readBranch(join(tmpdir(), "is-not-there"))).toBeUndefined();
    for (const head of [
      "",
      "ref: refs/heads/",
      "ref: refs/remotes/x/y",
      `ref: refs/heads/${"x".repeat(300)}`,
      "x".repeat(9000),
    ]) {
      writeFileSync(join(dir, ".git/HEAD"), head);
      expect([head.slice(0, 30), await readBranch(dir)]).toEqual([head.slice(0, 30), undefined]);
    }
    // A pipe in the place of the file: nobody waits for what is written to it.
    rmSync(join(dir, ".git/HEAD"));
    execFileSync("mkfifo", [join(dir, ".git/HEAD")]);
    expect(await readBranch(dir)).toBeUndefined();
  });
});

describe("in the lists", () => {
  let harness: HubHarness;
  beforeEach(async () => {
    harness = await startHub();
  });
  afterEach(() => harness.stop());

  it("C3.instances C3.events a session has its branch, and who listens is told of another one without asking", async () => {
    const agent = puppetAgent();
    agent.on("session/prompt", () => {
      git("switch", "-q", "-c", "by-the-agent");
      return { stopReason: "end_turn" };
    });
    const editor = rawClient(harness.bridge(agent.backend).editor);
    await editor.initialize({});
    const opened = await editor.call("session/new", { cwd: dir, mcpServers: [] });
    const prompt = { sessionId: String(opened["sessionId"]), prompt: [{ type: "text", text: "go" }] };
    const branch = async (): Promise<unknown> => {
      const response = await fetch(`${harness.url}/api/instances`, { headers: { authorization: "Bearer viewer:v" } });
      const [instance] = (await response.json()) as { sessions: JsonObject[] }[];
      return instance?.sessions[0]?.["branch"];
    };
    // As a client that asks only when the stream says that something has changed.
    const seen: unknown[] = [];
    let asking = Promise.resolve();
    harness.hub.events.listen(({ event }) => {
      if (event.kind !== "sessions-changed") return;
      // One after the other: answers of two connections may change places.
      asking = asking.then(branch).then(
        (name) => void seen.push(name),
        () => undefined,
      );
    });
    await editor.call("session/prompt", prompt);
    await expect.poll(() => seen.at(-1)).toBe("by-the-agent");
    agent.on("session/prompt", () => {
      git("switch", "-q", "main");
      return { stopReason: "end_turn" };
    });
    await editor.call("session/prompt", prompt);
    await expect.poll(() => seen.at(-1)).toBe("main");
  });
});
