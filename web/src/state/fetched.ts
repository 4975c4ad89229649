/** A value of the API in a component, asked for again when its path or `again` changes. */

import { useEffect, useState } from "preact/hooks";
import { Problem, get } from "../api/client";

export interface Fetched<T> {
  readonly value: T | null;
  readonly problem: Problem | null;
  readonly waiting: boolean;
}

/** `path` null asks for nothing. What was there stays until the new value comes, unless the path is another. */
export function useFetched<T>(path: string | null, again: unknown = 0): Fetched<T> {
  const [state, setState] = useState<Fetched<T> & { path: string | null }>({
    value: null,
    problem: null,
    waiting: path !== null,
    path,
  });
  useEffect(() => {
    if (path === null) return setState({ value: null, problem: null, waiting: false, path });
    const stop = new AbortController();
    setState((before) => ({
      value: before.path === path ? before.value : null,
      problem: null,
      waiting: true,
      path,
    }));
    get<T>(path, stop.signal).then(
      (value) => setState({ value, problem: null, waiting: false, path }),
      (error: unknown) => {
        if (stop.signal.aborted) return;
        const problem = error instanceof Problem ? error : new Problem(String(error), 0);
        setState({ value: null, problem, waiting: false, path });
      },
    );
    return () => stop.abort();
  }, [path, again]);
  return state;
}
