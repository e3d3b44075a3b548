import type { ComponentChildren } from 'preact';
import { type Inputs, useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { unreachable } from '../api/client.js';

export interface Loaded<T> {
  readonly value: T | undefined;
  readonly error: unknown;
  /** Loads the value again. The old value is shown until the new one has arrived. */
  readonly reload: () => void;
}

/**
 * Functions that reload the values shown on the page. All of them are called after each action of the user, because an
 * action can change any value.
 */
const reloads = new Set<() => void>();

/**
 * Loads a value from the emulator. When `inputs` change, the request is aborted, the value is hidden, and a new value
 * is loaded.
 *
 * The value is also reloaded after each action of the user, and every `every` milliseconds while the page is visible.
 * During such a reload, the old value stays visible until the new one has arrived.
 */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, inputs: Inputs, every?: number): Loaded<T> {
  const [state, setState] = useState<{ value?: T; error?: unknown }>({});
  const [times, setTimes] = useState(0);
  const reload = useCallback(() => setTimes((before) => before + 1), []);
  useEffect(() => setState({}), inputs);
  useEffect(() => {
    const abort = new AbortController();
    load(abort.signal).then(
      (value) => !abort.signal.aborted && setState({ value }),
      (error: unknown) => !abort.signal.aborted && setState((before) => ({ ...before, error })),
    );
    return () => abort.abort();
  }, [...inputs, times]);
  useEffect(() => {
    reloads.add(reload);
    return () => reloads.delete(reload);
  }, []);
  useEffect(() => {
    if (every === undefined) return;
    const repeat = () => document.visibilityState === 'visible' && reload();
    const timer = setInterval(repeat, every);
    document.addEventListener('visibilitychange', repeat);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', repeat);
    };
  }, [every]);
  return { value: state.value, error: state.error, reload };
}

/** Calls `reload` when `version` has changed, at most once in `pause` milliseconds. */
export function useReloads(reload: () => void, version: number, pause: number): void {
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const known = useRef(version);
  useEffect(() => {
    if (known.current === version) return;
    known.current = version;
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      reload();
    }, pause);
  }, [version]);
  useEffect(() => () => clearTimeout(timer.current), []);
}

/**
 * Waits for an `import()` of a part of the page's code. A failure is reported as "the emulator does not respond",
 * because the emulator serves the code.
 */
export async function loadCode<T>(code: Promise<T>): Promise<T> {
  try {
    return await code;
  } catch {
    throw unreachable();
  }
}

/**
 * Returns a function that runs one action at a time, and the error of the last action. After a successful action, all
 * values shown on the page are loaded again.
 */
export function useAction() {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const run = (act: () => Promise<unknown>) => {
    if (isBusy) return;
    setBusy(true);
    setError(undefined);
    act()
      .then(() => {
        for (const reload of reloads) reload();
      }, setError)
      .finally(() => setBusy(false));
  };
  return { run, isBusy, error };
}

/**
 * Loads a value from the emulator. `change` performs an action that changes the value. `notice` is an element that
 * shows that the value is loading, or the message or error of the last action.
 */
export function useManaged<T>(load: (signal: AbortSignal) => Promise<T>, every?: number) {
  const { value, error: unloaded } = useLoaded(load, [], every);
  const { run, isBusy, error } = useAction();
  const [said, say] = useState('');
  /**
   * Performs an action. If it succeeds, shows `sentence`, which is a message or a function that computes the message
   * from the result.
   */
  const change = <R,>(act: () => Promise<R>, sentence: string | ((result: R) => string) = '') =>
    run(async () => {
      say('');
      const result = await act();
      say(typeof sentence === 'string' ? sentence : sentence(result));
    });
  /** Element that shows a loading indicator, the message of the last action, or the last error. */
  const notice = (
    <>
      <Loading value={value} error={error ?? unloaded} />
      <p role="status" class="quiet">
        {said}
      </p>
    </>
  );
  return { value, error: unloaded, isBusy, change, notice };
}

/** Paragraph that shows an error message of the emulator. Nothing is shown if `error` is undefined. */
export function Failure({ error }: { readonly error: unknown }) {
  if (error === undefined) return null;
  return (
    <p class="failure" role="alert">
      {error instanceof Error ? error.message : String(error)}
    </p>
  );
}

/** Heading and advice that are shown instead of an empty list. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** Shows the error of a request, or that its value is still loading. Shows nothing after the value has arrived. */
export function Loading({ value, error }: Pick<Loaded<unknown>, 'value' | 'error'>) {
  if (error !== undefined) return <Failure error={error} />;
  if (value !== undefined) return null;
  return (
    <p class="loading" role="status">
      Loading…
    </p>
  );
}
