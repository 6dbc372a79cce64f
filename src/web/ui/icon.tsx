/** Line icons. Decorative: the control around an icon carries the words. */
import type { ReactElement } from "react";
import { type IconName, PATHS } from "./icon-paths.ts";

export function Icon({ name, small = false }: { readonly name: IconName; readonly small?: boolean }): ReactElement {
  return (
    <svg className={small ? "icon s" : "icon"} viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
