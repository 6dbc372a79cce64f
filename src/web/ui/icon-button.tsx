/** A round button that shows only an icon; its name is for everyone who cannot see it. */
import type { ReactElement } from "react";
import { Icon } from "./icon.tsx";
import type { IconName } from "./icon-paths.ts";

export interface IconButtonProps {
  readonly icon: IconName;
  readonly label: string;
  readonly onClick?: () => void;
  readonly href?: string;
  readonly disabled?: boolean;
  readonly tone?: "filled" | "stop";
}

export function IconButton({ icon, label, onClick, href, disabled, tone }: IconButtonProps): ReactElement {
  const className = tone === undefined ? "icon-button" : `icon-button ${tone}`;
  if (href !== undefined) {
    return (
      <a className={className} href={href} aria-label={label} title={label}>
        <Icon name={icon} />
      </a>
    );
  }
  return (
    <button type="button" className={className} aria-label={label} title={label} disabled={disabled} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
}
