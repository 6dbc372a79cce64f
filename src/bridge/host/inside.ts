/** Whether one path lies within another. Both absolute and without `.`, `..` or links, as `realpath` gives them. */
import { isAbsolute, relative, sep } from "node:path";

/** True when `path` is `root` itself or something beneath it. */
export function isInside(root: string, path: string): boolean {
  const rest = relative(root, path);
  return rest !== ".." && !rest.startsWith(`..${sep}`) && !isAbsolute(rest);
}
