/** Files of the session's workspace for what is typed after "@": asked of the hub when typing pauses, and never twice at once. */
import { useEffect, useState } from "react";
import type { FileMatches } from "../../client/index.ts";
import { useServices } from "../app/hooks.ts";

/** Shorter than a person notices, longer than between two letters of a fast one. */
const PAUSE_MS = 120;

export interface FileSearchState {
  /** The latest answer; kept while the next one is on its way, so that the list does not flicker. */
  readonly matches: FileMatches | undefined;
  readonly error: string | undefined;
}

const NOTHING: FileSearchState = { matches: undefined, error: undefined };

/** `query` undefined: nothing is searched. */
export function useFileSearch(
  instanceId: string | undefined,
  sessionId: string,
  query: string | undefined,
): FileSearchState {
  const { api } = useServices();
  const [state, setState] = useState(NOTHING);
  useEffect(() => {
    if (query === undefined || instanceId === undefined) {
      setState(NOTHING);
      return;
    }
    const abort = new AbortController();
    const timer = setTimeout(() => {
      api.searchFiles(instanceId, sessionId, query, abort.signal).then(
        (matches) => !abort.signal.aborted && setState({ matches, error: undefined }),
        (reason: unknown) => {
          const error = reason instanceof Error ? reason.message : "That did not work";
          if (!abort.signal.aborted) setState({ matches: undefined, error });
        },
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [api, instanceId, sessionId, query]);
  return state;
}
