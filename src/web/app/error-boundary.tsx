/** Catches what a screen throws: the person sees it and can go on, the rest of the state lives outside React. */
import { Component, type ReactNode } from "react";

interface Props {
  readonly children: ReactNode;
}

interface State {
  readonly error: Error | undefined;
}

/** What browsers say when a part that is loaded on demand does not come. */
const PART_MISSING = /dynamically imported module|module script failed/i;

export class ErrorBoundary extends Component<Props, State> {
  override state: State = { error: undefined };

  static getDerivedStateFromError(error: unknown): State {
    return { error: error instanceof Error ? error : new Error("unknown") };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <main className="crash" role="alert">
        <h1>This screen failed</h1>
        {PART_MISSING.test(error.message) && (
          <p>A part of the app could not be loaded: the hub cannot be reached, or has a newer app by now.</p>
        )}
        <p className="mono">{error.message}</p>
        <p>Your messages and answers are safe. Nothing was sent twice.</p>
        <button type="button" className="button primary" onClick={() => location.reload()}>
          Load the app again
        </button>
      </main>
    );
  }
}
