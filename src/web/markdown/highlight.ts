/** Colours code. Loaded when the first code block is seen; each language when it is first met. */
import { createLowlight } from "lowlight";
import type { Span } from "./span.ts";

type Grammar = Parameters<ReturnType<typeof createLowlight>["register"]>[1];

const LANGUAGES: Readonly<Record<string, () => Promise<{ default: Grammar }>>> = {
  bash: () => import("highlight.js/lib/languages/bash"),
  c: () => import("highlight.js/lib/languages/c"),
  cpp: () => import("highlight.js/lib/languages/cpp"),
  csharp: () => import("highlight.js/lib/languages/csharp"),
  css: () => import("highlight.js/lib/languages/css"),
  diff: () => import("highlight.js/lib/languages/diff"),
  dockerfile: () => import("highlight.js/lib/languages/dockerfile"),
  go: () => import("highlight.js/lib/languages/go"),
  ini: () => import("highlight.js/lib/languages/ini"),
  java: () => import("highlight.js/lib/languages/java"),
  javascript: () => import("highlight.js/lib/languages/javascript"),
  json: () => import("highlight.js/lib/languages/json"),
  kotlin: () => import("highlight.js/lib/languages/kotlin"),
  lua: () => import("highlight.js/lib/languages/lua"),
  makefile: () => import("highlight.js/lib/languages/makefile"),
  markdown: () => import("highlight.js/lib/languages/markdown"),
  php: () => import("highlight.js/lib/languages/php"),
  python: () => import("highlight.js/lib/languages/python"),
  ruby: () => import("highlight.js/lib/languages/ruby"),
  rust: () => import("highlight.js/lib/languages/rust"),
  sql: () => import("highlight.js/lib/languages/sql"),
  swift: () => import("highlight.js/lib/languages/swift"),
  typescript: () => import("highlight.js/lib/languages/typescript"),
  xml: () => import("highlight.js/lib/languages/xml"),
  yaml: () => import("highlight.js/lib/languages/yaml"),
};

const ALIASES: Readonly<Record<string, string>> = {
  "c++": "cpp",
  cc: "cpp",
  cs: "csharp",
  h: "c",
  hpp: "cpp",
  htm: "xml",
  html: "xml",
  js: "javascript",
  jsonc: "json",
  jsx: "javascript",
  kt: "kotlin",
  make: "makefile",
  md: "markdown",
  mjs: "javascript",
  py: "python",
  rb: "ruby",
  rs: "rust",
  sh: "bash",
  shell: "bash",
  svg: "xml",
  toml: "ini",
  ts: "typescript",
  tsx: "typescript",
  vue: "xml",
  yml: "yaml",
  zsh: "bash",
};

const lowlight = createLowlight();

/** Coloured spans, or undefined for a language that is not known. */
export async function highlight(text: string, language: string): Promise<readonly Span[] | undefined> {
  const lower = language.toLowerCase();
  const name = Object.hasOwn(ALIASES, lower) ? ALIASES[lower] : lower;
  const load = name !== undefined && Object.hasOwn(LANGUAGES, name) ? LANGUAGES[name] : undefined;
  if (name === undefined || load === undefined) return undefined;
  if (!lowlight.registered(name)) lowlight.register(name, (await load()).default);
  const spans: Span[] = [];
  flatten(lowlight.highlight(name, text).children, undefined, spans);
  return spans;
}

interface TreeNode {
  readonly type: string;
  readonly value?: string;
  readonly children?: readonly unknown[];
  readonly properties?: { readonly className?: unknown };
}

/** Nested spans become flat ones: the innermost class decides, as it does on screen. */
function flatten(nodes: readonly unknown[], className: string | undefined, out: Span[]): void {
  for (const node of nodes as readonly TreeNode[]) {
    if (node.type === "text") out.push({ className, text: node.value ?? "" });
    else {
      const own = node.properties?.className;
      flatten(node.children ?? [], Array.isArray(own) ? own.join(" ") : className, out);
    }
  }
}
