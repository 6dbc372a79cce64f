import { describe, expect, it } from "vitest";
import { wordsOf } from "../../../../src/cli/completions/words.ts";

describe("the words of a command's usage", () => {
  it("are its verbs, its options and the values they list", () => {
    const usage = `acp-hub token create --scope viewer|driver --name NAME [--ttl 30d] [-n N]
       acp-hub token list [--json] [--home DIR]`;
    const words = wordsOf("token", "s", usage);
    expect(words.verbs).toEqual(["create", "list"]);
    expect(words.options).toEqual(["--scope", "--name", "--ttl", "-n", "--json", "--home", "--help"]);
    expect([...words.values]).toEqual([["--scope", ["viewer", "driver"]]]);
  });

  it("verbs stand as alternatives or in brackets; placeholders and explanations are none", () => {
    expect(wordsOf("service", "s", "acp-hub service install|uninstall [--home DIR]").verbs).toEqual([
      "install",
      "uninstall",
    ]);
    expect(wordsOf("devices", "s", "acp-hub devices [list] [--json]").verbs).toEqual(["list"]);
    expect(
      wordsOf("bridge", "s", "acp-hub bridge [--name N] <profile>\n  acp-hub bridge [options] -- <command>").verbs,
    ).toEqual([]);
    expect(wordsOf("discover", "s", "acp-hub discover [--json] [NUMBER]").verbs).toEqual([]);
  });
});
