import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Acpx, framesOf, historyText, stopReasons, turnText } from "../support/acpx.ts";
import { finished } from "../support/cli.ts";
import { Stage } from "../support/stage.ts";

/** acpx starts an agent of its own first. */
const WAIT = { timeout: 15_000 };
const ASKING = { turns: [[{ say: "I look. " }, { ask: true }, { say: "It was $answer." }]] };

describe("acpx, a real client, through acp-hub attach", () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = new Stage();
    await stage.serve();
  });
  afterEach(() => stage.end());

  const acpxOn = (sessionId: string): Acpx => new Acpx(stage, sessionId);

  it("X2 B3 exec allows what the agent asks, and the editor sees prompt, answer and end", async () => {
    const { editor, sessionId } = await stage.share(ASKING);
    await stage.linked();
    const { code, stdout } = await acpxOn(sessionId).run(
      ["--approve-all", "--format", "json"],
      ["exec", "look around"],
    );
    expect(code).toBe(0);
    const frames = framesOf(stdout);
    expect(stopReasons(frames)).toEqual(["end_turn"]);
    await expect.poll(() => editor.textOf("agent_message_chunk"), WAIT).toBe(turnText(frames, "agent_message_chunk"));
    expect(turnText(frames, "agent_message_chunk")).toContain('"optionId":"allow"');
    expect(turnText(frames, "user_message_chunk")).toBe("");
    expect(editor.textOf("user_message_chunk")).toBe("look around");
    const asked = await editor.nextRequest("session/request_permission");
    expect(await editor.nextNotification("$/cancel_request")).toMatchObject({ requestId: asked.id });
  });

  it("X2 exec denies, the agent hears it once, and acpx says so by its exit code", async () => {
    const { editor, sessionId } = await stage.share({ ...ASKING, record: join(stage.home.dir, "record") });
    await stage.linked();
    const { code, stdout } = await acpxOn(sessionId).run(["--deny-all", "--format", "quiet"], ["exec", "look around"]);
    expect(code).toBe(5);
    expect(stdout).toContain('"optionId":"reject"');
    await expect.poll(() => editor.textOf("agent_message_chunk"), WAIT).toBe(stdout.trim());
    const answers = readFileSync(join(stage.home.dir, "record"), "utf8").match(/"outcome":"selected"/g);
    expect(answers).toHaveLength(1);
  });

  it("S1 S2 a session is adopted, listed, prompted twice, kept, and let go of", async () => {
    const { editor, sessionId } = await stage.share(ASKING);
    await stage.linked();
    const acpx = acpxOn(sessionId);
    const made = await acpx.run(["--format", "quiet"], ["sessions", "new"]);
    expect(made).toMatchObject({ code: 0, stdout: `${sessionId}\n` });
    for (const text of ["first", "second"]) {
      const ran = await acpx.run(["--approve-all", "--format", "quiet"], ["prompt", text]);
      expect(ran).toMatchObject({ code: 0 });
      expect(ran.stdout.match(/I look\. /g)).toHaveLength(1);
    }
    expect((await acpx.run([], ["sessions", "list"])).stdout).toContain(sessionId);
    const history = (await acpx.run([], ["sessions", "history"])).stdout;
    expect(history.match(/\t(user|assistant)\t/g)).toHaveLength(4);
    await expect.poll(() => editor.textOf("user_message_chunk"), WAIT).toBe("firstsecond");
    expect((await acpx.run([], ["sessions", "close"])).code).toBe(0);
    await acpx.rest();
    // S6: a client that closes only lets go.
    expect((await stage.instances())[0]?.sessions.map((session) => session.sessionId)).toEqual([sessionId]);
  });

  it("L2 P3 the hub is killed in the middle of a turn and comes back: nothing is lost or doubled, the result arrives", async () => {
    const { editor, sessionId } = await stage.share({
      record: join(stage.home.dir, "record"),
      turns: [[{ say: "one " }, { waitFor: "_test/on" }, { say: "two " }, { waitFor: "_test/on" }, { say: "three" }]],
    });
    await stage.linked();
    const acpx = acpxOn(sessionId);
    const running = finished(acpx.start(["--approve-all", "--format", "json"], ["exec", "count"]));
    await expect.poll(() => editor.textOf("agent_message_chunk"), WAIT).toBe("one ");
    const info = await stage.hubInfo();
    process.kill(info?.pid ?? 0, "SIGKILL");
    editor.notify("_test/on", {});
    await expect.poll(() => editor.textOf("agent_message_chunk"), WAIT).toBe("one two ");
    await stage.serve(["--port", String(info?.port)]);
    await stage.linked();
    editor.notify("_test/on", {});
    const { code, stdout } = await running;
    expect(code).toBe(0);
    const frames = framesOf(stdout);
    expect(stopReasons(frames)).toEqual(["end_turn"]);
    expect(turnText(frames, "agent_message_chunk")).toBe("one two three");
    const record = readFileSync(join(stage.home.dir, "record"), "utf8");
    expect(record.match(/"method":"session\/prompt"/g)).toHaveLength(1);
  });

  it("P2 killed in the middle of its turn: the turn ends all the same, and the next acpx is told the whole of it", async () => {
    const { editor, sessionId } = await stage.share({
      turns: [[{ say: "one " }, { waitFor: "_test/on" }, { say: "two" }], [{ say: "three" }]],
    });
    await stage.linked();
    const acpx = acpxOn(sessionId);
    const child = acpx.start(["--format", "json"], ["exec", "count"]);
    await expect.poll(() => editor.textOf("agent_message_chunk"), WAIT).toBe("one ");
    child.kill("SIGKILL");
    await expect.poll(() => attached(), WAIT).toBe(0);
    editor.notify("_test/on", {});
    await expect.poll(async () => (await stage.instances())[0]?.sessions[0]?.status, WAIT).toBe("idle");
    const { stdout } = await acpx.run(["--format", "json"], ["exec", "go on"]);
    expect(historyText(framesOf(stdout), "agent_message_chunk")).toBe("one two");
    expect(turnText(framesOf(stdout), "agent_message_chunk")).toBe("three");

    async function attached(): Promise<number> {
      return (await stage.instances())[0]?.clients ?? -1;
    }
  });

  it("X7 its cancel ends the shared turn, once, and everybody is told", async () => {
    const { editor, sessionId } = await stage.share({
      record: join(stage.home.dir, "record"),
      turns: [[{ say: "I begin. " }, { waitFor: "_test/on" }]],
    });
    await stage.linked();
    const acpx = acpxOn(sessionId);
    await acpx.run([], ["sessions", "new"]);
    const running = finished(acpx.start(["--approve-all", "--format", "json"], ["prompt", "go on for ever"]));
    await expect.poll(() => editor.textOf("agent_message_chunk"), WAIT).toBe("I begin. ");
    const cancelled = await acpx.run([], ["cancel"]);
    expect(cancelled.code, cancelled.stderr).toBe(0);
    expect(stopReasons(framesOf((await running).stdout))).toEqual(["cancelled"]);
    await expect.poll(async () => (await stage.instances())[0]?.sessions[0]?.status, WAIT).toBe("idle");
    const record = readFileSync(join(stage.home.dir, "record"), "utf8");
    expect(record.match(/"method":"session\/cancel"/g)).toHaveLength(1);
    await acpx.run([], ["sessions", "close"]);
    await acpx.rest();
  });
});
