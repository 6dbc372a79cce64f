/** What the page needs before anything is shown, and what it may ask for after that, in terms of what was built. */
import type { Rollup } from "vite";

/** The parts the entry asks for as soon as it runs. */
const ASKED_FOR = /\/app\/(?:start\.ts|mount\.tsx)$/;

/** Scripts of the first load: the page's own, what it asks for at once, and what these import. */
export function firstLoad(bundle: Rollup.OutputBundle): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [name, file] of chunksOf(bundle)) if (file.isEntry || isAskedFor(file)) follow(bundle, name, names);
  return names;
}

/** These and the screens and parts they ask for later; not what those may ask for in turn. */
export function wholeApp(bundle: Rollup.OutputBundle): ReadonlySet<string> {
  const first = firstLoad(bundle);
  const names = new Set(first);
  for (const [name, file] of chunksOf(bundle))
    if (first.has(name)) for (const later of file.dynamicImports) follow(bundle, later, names);
  return names;
}

function follow(bundle: Rollup.OutputBundle, name: string, into: Set<string>): void {
  const file = bundle[name];
  if (file?.type !== "chunk" || into.has(name)) return;
  into.add(name);
  for (const next of file.imports) follow(bundle, next, into);
}

const chunksOf = (bundle: Rollup.OutputBundle): readonly (readonly [string, Rollup.OutputChunk])[] =>
  Object.entries(bundle).flatMap(([name, file]) =>
    file.type === "chunk" && name !== "sw.js" ? [[name, file] as const] : [],
  );

const isAskedFor = (file: Rollup.OutputChunk): boolean => file.moduleIds.some((id) => ASKED_FOR.test(id));
