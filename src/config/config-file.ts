/** The configuration file: JSON with comments. Every complaint names the line. */
import { readFileSync } from "node:fs";
import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import { isObject, type JsonObject } from "../protocol/json.ts";

export interface ConfigFile {
  readonly path: string;
  readonly exists: boolean;
  readonly value: JsonObject;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
  /** `config.json:12`, for the value or the nearest thing around it. */
  placeOf(path: readonly (string | number)[]): string;
}

type ReadText = (path: string) => string | undefined;

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

const SYNTAX: Readonly<Record<string, string>> = {
  InvalidSymbol: "is no value; text needs quotes",
  PropertyNameExpected: "needs a name in quotes here",
  ColonExpected: 'needs a ":" here',
  CommaExpected: 'needs a "," here',
  ValueExpected: "needs a value here",
  CloseBraceExpected: 'is missing a "}"',
  CloseBracketExpected: 'is missing a "]"',
  EndOfFileExpected: "goes on after its end",
};

const lineOf = (text: string, offset: number): number => text.slice(0, offset).split("\n").length;

function syntaxProblem(path: string, text: string, { error, offset }: ParseError): string {
  const words = SYNTAX[printParseErrorCode(error)] ?? "is not JSON here";
  return `${path}:${lineOf(text, offset)} ${words}`;
}

/** Names given twice in one object: JSON takes the last, a person meant one of them. */
function* doubledNames(node: Node | undefined): Generator<{ readonly name: string; readonly offset: number }> {
  const seen = new Set<string>();
  for (const child of node?.children ?? []) {
    const [key, value] = child.type === "property" ? (child.children ?? []) : [undefined, child];
    if (key !== undefined && seen.has(String(key.value))) yield { name: String(key.value), offset: key.offset };
    if (key !== undefined) seen.add(String(key.value));
    yield* doubledNames(value);
  }
}

/** A file that is not there is an empty one. One that cannot be read throws. */
export function readConfigFile(path: string, read: ReadText = readText): ConfigFile {
  const text = read(path) ?? "";
  const exists = text.trim() !== "";
  const errors: ParseError[] = [];
  const tree = exists ? parseTree(text, errors, { allowTrailingComma: true }) : undefined;
  const value: unknown = tree === undefined ? {} : getNodeValue(tree);
  const problems = errors.map((error) => syntaxProblem(path, text, error));
  if (exists && problems.length === 0 && !isObject(value)) problems.push(`${path}:1 must hold an object: { … }`);
  const warnings = [...doubledNames(tree)].map(
    ({ name, offset }) => `${path}:${lineOf(text, offset)} "${name}" is given twice; the last one counts`,
  );
  const placeOf = (location: readonly (string | number)[]): string => {
    for (let length = location.length; length > 0 && tree !== undefined; length--) {
      const node = findNodeAtLocation(tree, location.slice(0, length));
      // The property's own line: a long value may begin below its name.
      if (node !== undefined)
        return `${path}:${lineOf(text, node.parent?.type === "property" ? node.parent.offset : node.offset)}`;
    }
    return path;
  };
  return { path, exists, value: isObject(value) ? value : {}, problems, warnings, placeOf };
}
