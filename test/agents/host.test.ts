import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Json, JsonObject } from "../../src/protocol/json.ts";
import { stringAt } from "../../src/protocol/json.ts";
import { says } from "../support/fake-model/script.ts";
import type { Asked, RawClient } from "../support/raw-client.ts";
import { AGENTS } from "./support/agents.ts";
import { optionOf, selected } from "./support/clients.ts";
import { askFirst, onStage } from "./support/stage.ts";

const FILES = { fs: { readTextFile: true, writeTextFile: true } };

/** Answers every request of one method for as long as the test runs. */
async function serve(client: RawClient, method: string, answer: (asked: Asked) => Json): Promise<never> {
  for (;;) {
    const asked = await client.nextRequest(method);
    client.answer(asked.id, answer(asked));
  }
}

/** An editor with unsaved files: what it holds is not on disk. */
function holdFiles(editor: RawClient): Map<string, string> {
  const files = new Map<string, string>();
  void serve(editor, "fs/read_text_file", ({ params }) => ({ content: files.get(pathOf(params)) ?? "" }));
  void serve(editor, "fs/write_text_file", ({ params }) => {
    files.set(pathOf(params), stringAt(params, "content") ?? "");
    return {};
  });
  return files;
}

const pathOf = (params: JsonObject): string => stringAt(params, "path") ?? "";

const hostRequests = (client: RawClient): string[] =>
  client.frames.flatMap((frame) =>
    frame.kind === "request" && /^(fs|terminal)\//.test(frame.msg.method) ? [frame.msg.method] : [],
  );

it.for(AGENTS)(
  "$name: S7 the editor's session has its files at the editor, a remote's session at the bridge",
  (agent) =>
    onStage(
      agent,
      async (stage) => {
        const { editor, model, place, sessionId } = stage;
        const a = await stage.phone("a");
        const files = holdFiles(editor);
        void serve(a, "session/request_permission", (asked) => selected(optionOf(asked, "allow_once")));

        await askFirst(stage);
        const mine = join(place.cwd, "editor.txt");
        model.reply(agent.row.write(mine, "from the editor's session\n"));
        model.reply(says("Written."));
        expect((await stage.prompt(a, "write a file"))["stopReason"]).toBe("end_turn");
        expect(files.get(mine) ?? readFileSync(mine, "utf8")).toBe("from the editor's session\n");
        const asked = hostRequests(editor).length;

        const opened = await a.call("session/new", { cwd: place.cwd, mcpServers: [] });
        const ownId = stringAt(opened, "sessionId") ?? "";
        expect(ownId).not.toBe(sessionId);
        await askFirst(stage, a, ownId);
        const theirs = join(place.cwd, "remote.txt");
        model.reply(agent.row.write(theirs, "from a remote's session\n"));
        model.reply(says("Written."));
        const end = await a.call("session/prompt", { sessionId: ownId, prompt: [{ type: "text", text: "write one" }] });
        expect(end["stopReason"]).toBe("end_turn");
        expect(readFileSync(theirs, "utf8")).toBe("from a remote's session\n");
        expect(hostRequests(editor).length).toBe(asked);
        expect(hostRequests(a)).toEqual([]);
      },
      FILES,
    ),
);
