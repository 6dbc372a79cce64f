/** React's view of the client's observables. */
import {
  createContext,
  use,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
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

/** Between two paints of a stream. Text that comes faster is read no faster, and a phone has better to do. */
const PAINT_MS = 40;

/** As `useObservable`, but painted at most every `PAINT_MS`, in a frame of the browser: a hidden page paints nothing. */
export function useObservableFrame<T>(observable: Observable<T>): T {
  const shown = useRef(observable.value);
  const subscribe = useCallback(
    (listener: () => void) => {
      let frame = 0;
      let paintedAt = 0;
      const paint = (now: number): void => {
        if (now - paintedAt < PAINT_MS) {
          frame = requestAnimationFrame(paint);
          return;
        }
        frame = 0;
        paintedAt = now;
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

/** The same object for as long as its members are the same: what `memo` needs of a part of something that changes. */
export function useSame<T extends object>(value: T): T {
  const kept = useRef(value);
  const before = kept.current;
  const isSame = (Object.keys(value) as (keyof T)[]).every((key) => Object.is(value[key], before[key]));
  if (!isSame) kept.current = value;
  return kept.current;
}

/** A value that changes fast, taken on at most every `everyMs`. The last one always comes. */
export function useThrottled<T>(value: T, everyMs: number): T {
  const [shown, setShown] = useState(value);
  const latest = useRef(value);
  latest.current = value;
  const isBehind = !Object.is(shown, value);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was shown may be behind again at once
  useEffect(() => {
    if (!isBehind) return;
    const timer = setTimeout(() => setShown(latest.current), everyMs);
    return () => clearTimeout(timer);
  }, [isBehind, shown, everyMs]);
  return shown;
}

/** Times nearer than this are shown as the same. */
const SAME_MS = 500;

/** The present time, renewed every `everyMs` while the page is seen, and when it is seen again. A hidden page is not woken. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  // Before the paint: who ticks faster from now on has no old time to show.
  useLayoutEffect(() => {
    let timer: ReturnType<typeof setInterval> | undefined;
    // Who has just begun is not drawn a second time for it.
    const tick = (): void => setNow((before) => (Math.abs(Date.now() - before) < SAME_MS ? before : Date.now()));
    const look = (): void => {
      clearInterval(timer);
      if (document.visibilityState !== "visible") return;
      tick();
      timer = setInterval(tick, everyMs);
    };
    look();
    document.addEventListener("visibilitychange", look);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, [everyMs]);
  return now;
}

/** The present time of the hub, as `useNow`: for what the hub has dated. */
export function useHubNow(everyMs: number): number {
  const offset = useObservable(useServices().hubClock.offset);
  return useNow(everyMs) + offset;
}

/** A moment of the hub's present day, for the times of what the hub has dated. */
export function useHubToday(): number {
  return useObservable(useServices().today.moment);
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
