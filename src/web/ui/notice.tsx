/** A short message in the page, with a tone that is not told by colour alone. */
import type { ReactElement, ReactNode } from "react";
import { Icon } from "./icon.tsx";
import type { IconName } from "./icon-paths.ts";

export type Tone = "info" | "warn" | "danger" | "ok";

const ICONS: Readonly<Record<Tone, IconName>> = { info: "info", warn: "alert", danger: "alert", ok: "check" };

export function Notice({
  tone = "info",
  children,
}: {
  readonly tone?: Tone;
  readonly children: ReactNode;
}): ReactElement {
  return (
    <div className={`notice ${tone}`} role={tone === "danger" ? "alert" : undefined}>
      <Icon name={ICONS[tone]} />
      <div>{children}</div>
    </div>
  );
}
