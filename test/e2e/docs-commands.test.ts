import { once } from "node:events";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Home } from "../support/cli.ts";
import { type Shown, shown } from "../support/shown-commands.ts";

/** They last, or change the system or a session: these files run them, with stand-ins where the system would be changed. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  serve: "test/e2e/operate.test.ts",
  bridge: "test/e2e/bridge-modes.test.ts",
  attach: "test/e2e/attach.test.ts",
  service: "test/e2e/operate.test.ts",
  tunnel: "test/e2e/operate.test.ts",
  watch: "test/e2e/cli.test.ts",
  send: "test/integration/cli/drive.test.ts",
  approve: "test/integration/cli/drive.test.ts",
  deny: "test/integration/cli/drive.test.ts",
};
/** They tell about this machine: a machine without a network, say, is a finding and no mistake in the documentation. */
const OF_THE_MACHINE = ["doctor", "discover"];
/** Pages that speak about commands instead of showing how to use them. */
const ABOUT = /^CHANGELOG\.md$|^docs\/adr\//;

const lineOf = ({ words, agent }: Shown): string => [...words, ...(agent === undefined ? [] : ["--", agent])].join(" ");

describe("the commands of the documentation", async () => {
  const all = (await shown()).filter(({ file }) => !ABOUT.test(file));
  const lines = new Map(all.map((each) => [lineOf(each), each]));
  const here = [...lines].filter(([, { words }]) => !Object.hasOwn(ELSEWHERE, words[0] ?? ""));
  let home: Home;
  beforeAll(async () => {
    home = new Home();
    await home.serve(["--demo"]);
  });
  afterAll(() => home.remove());

  const ending = here.filter(([line]) => line !== "stop" && line !== "logs -f");

  it.each(ending.map(([line]) => line))("runs as shown: acp-hub %s", async (line) => {
    const args = line.replace("<agent>", "demo").split(" ");
    const { code, stderr } = await home.run(args);
    const allowed = OF_THE_MACHINE.includes(args[0] ?? "") ? [0, 1] : [0];
    expect(allowed, stderr).toContain(code);
  });

  it("runs as shown: acp-hub logs -f, until it is told to end", async () => {
    const child = home.spawn(["logs", "-f"]);
    const [first] = (await once(child.stdout ?? child, "data")) as [Buffer];
    expect(first.toString()).toContain("hub listening");
    child.kill("SIGINT");
    expect((await once(child, "exit"))[0]).toBe(0);
  });

  it("runs as shown: acp-hub stop", async () => {
    expect((await home.run(["stop"])).code).toBe(0);
    expect((await home.run(["status"])).code).toBe(3);
  });

  it("are all run: here, or by the file that is named for them", () => {
    expect(here.map(([line]) => line)).toEqual(expect.arrayContaining(["stop", "logs -f", "pair", "doctor"]));
    for (const [name, file] of Object.entries(ELSEWHERE)) {
      expect(
        [...lines.values()].some(({ words }) => words[0] === name),
        name,
      ).toBe(true);
      expect(new RegExp(`"${name}"|\\.${name}\\(`).test(readFileSync(file, "utf8")), `${name} in ${file}`).toBe(true);
    }
  });
});
