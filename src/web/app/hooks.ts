/** React's view of the client's observables. */
import { createContext, use, useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import type { Observable } from "../../client/index.ts";
import type { Services } from "./services.ts";

export const ServicesContext = createContext<Services | undefined>(undefined);

export function useServices(): Services {
  const services = use(ServicesContext);
  if (services === undefined) throw new TypeError("no services above this component");
  return services;
}

export function useObservable<T>(observable: Observable<T>): T {
  const subscribe = useCallback((listener: () => void) => observable.subscribe(listener), [observable]);
  return useSyncExternalStore(subscribe, () => observable.value);
}

/** As `useObservable`, but at most one render a frame: a stream may change a hundred times in between. */
export function useObservableFrame<T>(observable: Observable<T>): T {
  const shown = useRef(observable.value);
  const subscribe = useCallback(
    (listener: () => void) => {
      let frame = 0;
      const paint = (): void => {
        frame = 0;
        shown.current = observable.value;
        listener();
      };
      // Caught up at once: the value may have changed between render and subscription.
      shown.current = observable.value;
      const unsubscribe = observable.subscribe(() => {
        if (frame === 0) frame = requestAnimationFrame(paint);
      });
      return () => {
        unsubscribe();
        cancelAnimationFrame(frame);
      };
    },
    [observable],
  );
  return useSyncExternalStore(subscribe, () => shown.current);
}

/** The present time, renewed every `everyMs` while the page is seen. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") setNow(Date.now());
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

/** Something loaded from the hub. `reload` asks again and keeps what is shown until the answer is in. */
export interface Loaded<T> {
  readonly value: T | undefined;
  readonly error: string | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

export function useLoaded<T>(load: () => Promise<T>, deps: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, "reload">>({
    value: undefined,
    error: undefined,
    isLoading: true,
  });
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `deps` are the caller's, `round` asks again
  useEffect(() => {
    let isCurrent = true;
    setState((before) => ({ ...before, isLoading: true }));
    latest.current().then(
      (value) => isCurrent && setState({ value, error: undefined, isLoading: false }),
      (error: unknown) => {
        const message = error instanceof Error ? error.message : "That did not work";
        if (isCurrent) setState((before) => ({ ...before, error: message, isLoading: false }));
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [...deps, round]);
  return { ...state, reload: useCallback(() => setRound((before) => before + 1), []) };
}
