/** Which cards are unfolded. Kept outside the rows: a row that leaves the window forgets its own state. */
import { createContext, type ReactElement, type ReactNode, use, useCallback, useState } from "react";
import { Observable } from "../../client/index.ts";
import { useObservable } from "../app/hooks.ts";

const OpenContext = createContext<Observable<ReadonlySet<string>> | undefined>(undefined);

export function OpenStateProvider({ children }: { readonly children: ReactNode }): ReactElement {
  const [open] = useState(() => new Observable<ReadonlySet<string>>(new Set()));
  return <OpenContext value={open}>{children}</OpenContext>;
}

const NONE = new Observable<ReadonlySet<string>>(new Set());

export function useOpen(key: string): readonly [boolean, () => void] {
  const store = use(OpenContext) ?? NONE;
  const open = useObservable(store);
  const toggle = useCallback(() => {
    const next = new Set(store.value);
    if (!next.delete(key)) next.add(key);
    store.set(next);
  }, [store, key]);
  return [open.has(key), toggle];
}
