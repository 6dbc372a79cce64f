/** A simple screen with a title and a way back. */
import type { ReactElement, ReactNode } from "react";
import { IconButton } from "./icon-button.tsx";
import "./page.css";

export interface PageProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly isBusy?: boolean;
  readonly backHref?: string;
}

export function Page({ title, children, isBusy = false, backHref = "#/" }: PageProps): ReactElement {
  return (
    <div className="page">
      <header className="page-header">
        <IconButton icon="back" label="Back" href={backHref} />
        <h1 className="truncate">{title}</h1>
        {isBusy && <span className="spinner" />}
      </header>
      <div className="page-body" aria-busy={isBusy}>
        {children}
      </div>
    </div>
  );
}
