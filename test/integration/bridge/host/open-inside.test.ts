import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openForWriting, openInside, PlaceError } from "../../../../src/bridge/host/open-inside.ts";

describe("opening inside roots", () => {
  let base: string;
  let root: string;
  beforeEach(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), "acp-hub-inside-")));
    root = join(base, "root");
    mkdirSync(join(root, "dir"), { recursive: true });
    mkdirSync(join(base, "out"));
    writeFileSync(join(root, "dir/a.txt"), "inside");
    writeFileSync(join(base, "out/secret"), "secret");
    writeFileSync(join(base, "root2"), "beside");
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));

  const codeOf = (opening: Promise<{ handle: { close(): Promise<void> } }>): Promise<string> =>
    opening.then(
      async ({ handle }) => {
        await handle.close();
        return "opened";
      },
      (error: unknown) => (error instanceof PlaceError ? error.code : String(error)),
    );
  const file = (path: string, roots = [root]): Promise<string> => codeOf(openInside(path, roots, "file"));
  const write = (path: string, roots = [root]): Promise<string> => codeOf(openForWriting(path, roots));

  it("S7 C3.files opens what is inside, by any name of it", async () => {
    symlinkSync(root, join(base, "alias"));
    symlinkSync("dir/a.txt", join(root, "link"));
    for (const path of ["root/dir/a.txt", "root/dir/../dir/a.txt", "alias/dir/a.txt", "root/link"])
      expect(await file(join(base, path))).toBe("opened");
    expect(await file(join(root, "dir/a.txt"), [join(base, "alias")])).toBe("opened");
    expect(await codeOf(openInside(root, [root], "directory"))).toBe("opened");
  });

  it("S7 C3.files refuses what is outside, links resolved, and tells nothing of what is there", async () => {
    symlinkSync(join(base, "out"), join(root, "door"));
    symlinkSync(join(base, "out/secret"), join(root, "peek"));
    for (const path of ["out/secret", "out/nothing", "root/../out/secret", "root/door/secret", "root/peek", "root2"])
      expect(await file(`${base}/${path}`)).toBe("outside");
    for (const path of ["relative", "", `${root}/a\0b`]) expect(await file(path)).toBe("outside");
    expect(await file(join(root, "dir/a.txt"), [])).toBe("outside");
    expect(await file(join(root, "dir/a.txt"), [join(base, "gone")])).toBe("outside");
  });

  it("S7 C3.files the root of the file system is no root", async () => {
    expect(await file(join(root, "dir/a.txt"), ["/"])).toBe("outside");
  });

  it("S7 C3.files what is missing inside is missing, and what is of another kind is said to be", async () => {
    expect(await file(join(root, "nothing"))).toBe("missing");
    expect(await file(join(root, "nothing/deeper"))).toBe("missing");
    expect(await file(join(root, "dir"))).toBe("wrong-type");
    expect(await file(join(root, "dir/a.txt/deeper"))).toBe("wrong-type");
    expect(await codeOf(openInside(join(root, "dir/a.txt"), [root], "directory"))).toBe("wrong-type");
    symlinkSync("loop", join(root, "loop"));
    expect(await file(join(root, "loop"))).toBe("outside");
  });

  it("C3.files a pipe is refused and does not wait for its writer", async () => {
    execFileSync("mkfifo", [join(root, "pipe")]);
    expect(await file(join(root, "pipe"))).toBe("wrong-type");
  });

  it("S7 writes new files with their directories, and keeps what an opened one holds until it is written", async () => {
    expect(await write(join(root, "new/deep/file"))).toBe("opened");
    expect(readFileSync(join(root, "new/deep/file"), "utf8")).toBe("");
    expect(await write(join(root, "dir/a.txt"))).toBe("opened");
    expect(readFileSync(join(root, "dir/a.txt"), "utf8")).toBe("inside");
  });

  it("S7 writes nothing outside: not through a link, not to where a dangling link points", async () => {
    symlinkSync(join(base, "out"), join(root, "door"));
    symlinkSync(join(base, "out/new"), join(root, "dangling"));
    for (const path of ["root/door/new", "root/door/deep/new", "out/new", "root/../out/new"])
      expect(await write(`${base}/${path}`)).toBe("outside");
    expect(await write(join(root, "dangling"))).not.toBe("opened");
    expect(existsSync(join(base, "out/new"))).toBe(false);
    expect(existsSync(join(base, "out/deep"))).toBe(false);
    expect(readdirSync(join(base, "out"))).toEqual(["secret"]);
    expect(await write(join(root, "dir"))).toBe("wrong-type");
  });

  it("C3.files a link swapped in while it is opened never gives what is outside", async () => {
    const [plain, evil] = [join(base, "plain"), join(base, "evil")];
    writeFileSync(join(root, "target"), "inside");
    symlinkSync(join(base, "out/secret"), evil);
    let isDone = false;
    // Swaps a file and a link under one name, between every two steps of the opening.
    const swap = (): void => {
      if (isDone) return;
      renameSync(join(root, "target"), plain);
      renameSync(evil, join(root, "target"));
      setImmediate(() => {
        renameSync(join(root, "target"), evil);
        renameSync(plain, join(root, "target"));
        setImmediate(swap);
      });
    };
    swap();
    const seen = new Set<string>();
    for (let round = 0; round < 400; round += 1) {
      const opened = await openInside(join(root, "target"), [root], "file").catch((error: unknown) => error);
      if (opened instanceof PlaceError) seen.add(opened.code);
      else if (!(opened instanceof Error)) {
        const { handle } = opened as Awaited<ReturnType<typeof openInside>>;
        seen.add(await handle.readFile("utf8"));
        await handle.close();
      }
    }
    isDone = true;
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(seen).not.toContain("secret");
    expect(seen.has("outside") || seen.has("inside")).toBe(true);
  });
});
