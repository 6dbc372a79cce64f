/** Parts of a screen that come after it: nobody sees them at once, and a slow network has better to do first. */
import { type ComponentType, lazy, type ReactElement, Suspense, useState } from "react";

const fetches: (() => Promise<unknown>)[] = [];

interface Late<P> {
  /** Undefined until it is there. */
  loaded: ComponentType<P> | undefined;
  readonly Coming: ComponentType<P>;
}

/** A component that is fetched when it is first shown, or in a quiet moment before. */
export function late<P extends object>(load: () => Promise<ComponentType<P>>): (props: P) => ReactElement {
  const fetched = async (): Promise<ComponentType<P>> => {
    part.loaded ??= await load();
    return part.loaded;
  };
  const part: Late<P> = { loaded: undefined, Coming: lazy(async () => ({ default: await fetched() })) };
  fetches.push(fetched);
  return (props) => <LatePart part={part as Late<object>} props={props} />;
}

function LatePart({ part, props }: { readonly part: Late<object>; readonly props: object }): ReactElement {
  // What is there is shown in the same frame. Chosen once: another component in its place would lose what was typed into it.
  const [{ Part }] = useState(() => ({ Part: part.loaded ?? part.Coming }));
  return (
    <Suspense fallback={null}>
      <Part {...props} />
    </Suspense>
  );
}

/** Fetches them all: when a person wants one it is there, without a network too. */
export function fetchLateParts(): void {
  const fetchAll = (): void => {
    for (const fetched of fetches) void fetched().catch(() => undefined);
  };
  // Not every browser tells when it is idle.
  if ("requestIdleCallback" in window) requestIdleCallback(fetchAll, { timeout: QUIET_MS });
  else setTimeout(fetchAll, QUIET_MS);
}

const QUIET_MS = 3000;
