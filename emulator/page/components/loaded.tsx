import type { ComponentChildren } from 'preact';
import { type Inputs, useCallback, useEffect, useState } from 'preact/hooks';
import { unreachable } from '../api/client.js';

export interface Loaded<T> {
  readonly value: T | undefined;
  readonly error: unknown;
  /** Loads the value again. The old value is shown until then. */
  readonly reload: () => void;
}

/** Reload functions of the values that are shown. They are called after each action. */
const reloads = new Set<() => void>();

/**
 * Loads a value, and loads it again when `inputs` change. The previous request is then aborted, and its value hidden. After
 * each action of the page, and every `every` milliseconds while the page is visible, the value is loaded again and the
 * old one is shown until then.
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

/**
 * Loads code when it is first needed. The code comes from the emulator, so a failure means that the emulator is
 * unreachable.
 */
export async function loadCode<T>(code: Promise<T>): Promise<T> {
  try {
    return await code;
  } catch {
    throw unreachable();
  }
}

/** Runs one action at a time and keeps its last error. What is shown is loaded again afterwards. */
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

/** Loads a value of the emulator, and provides `change`, which performs an action and shows its result or error. */
export function useManaged<T>(load: (signal: AbortSignal) => Promise<T>, every?: number) {
  const { value, error: unloaded } = useLoaded(load, [], every);
  const { run, isBusy, error } = useAction();
  const [said, say] = useState('');
  /** Performs a change and shows a message. */
  const change = <R,>(act: () => Promise<R>, sentence: string | ((result: R) => string) = '') =>
    run(async () => {
      say('');
      const result = await act();
      say(typeof sentence === 'string' ? sentence : sentence(result));
    });
  /** Loading indicator, last message, or last error. */
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

/** Error message of the emulator. */
export function Failure({ error }: { readonly error: unknown }) {
  if (error === undefined) return null;
  return (
    <p class="failure" role="alert">
      {error instanceof Error ? error.message : String(error)}
    </p>
  );
}

/** Text shown in place of an empty list, with advice. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** Shows that a value is loading, or why it is missing or outdated; nothing if neither. */
export function Loading({ value, error }: Pick<Loaded<unknown>, 'value' | 'error'>) {
  if (error !== undefined) return <Failure error={error} />;
  if (value !== undefined) return null;
  return (
    <p class="loading" role="status">
      Loading…
    </p>
  );
}
