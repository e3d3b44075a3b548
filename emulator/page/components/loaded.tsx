import type { ComponentChildren } from 'preact';
import { type Inputs, useCallback, useEffect, useState } from 'preact/hooks';
import { unreachable } from '../api/client.js';

export interface Loaded<T> {
  readonly value: T | undefined;
  readonly error: unknown;
  /** Loads it again; what is shown stays until then. */
  readonly reload: () => void;
}

/**
 * What `load` brings, anew when what it depends on changes; the one before is aborted. With another `reason` it is loaded
 * again, and what is shown stays until then.
 */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, inputs: Inputs, reason?: unknown): Loaded<T> {
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
  }, [...inputs, times, reason]);
  return { value: state.value, error: state.error, reload };
}

/** Code that is loaded when it is first needed. It comes from the emulator, so that an emulator that is gone is why it fails. */
export async function loadCode<T>(code: Promise<T>): Promise<T> {
  try {
    return await code;
  } catch {
    throw unreachable();
  }
}

/** Something that a button does: one at a time, and what went wrong with the last one. */
export function useAction() {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const run = (act: () => Promise<unknown>) => {
    if (isBusy) return;
    setBusy(true);
    setError(undefined);
    act()
      .catch(setError)
      .finally(() => setBusy(false));
  };
  return { run, isBusy, error };
}

/** A value that the page changes. */
export function useManaged<T>(load: (signal: AbortSignal) => Promise<T>) {
  const { value, error: unloaded, reload } = useLoaded(load, []);
  const { run, isBusy, error } = useAction();
  const [said, say] = useState('');
  /** Changes something, says so, and loads the value again. */
  const change = <R,>(act: () => Promise<R>, sentence: string | ((result: R) => string) = '') =>
    run(async () => {
      say('');
      const result = await act();
      say(typeof sentence === 'string' ? sentence : sentence(result));
      reload();
    });
  /** That the value is being loaded, or what was said and what went wrong last. */
  const notice = (
    <>
      <Loading value={value} error={error ?? unloaded} />
      <p role="status" class="quiet">
        {said}
      </p>
    </>
  );
  return { value, error: unloaded, isBusy, reload, change, notice };
}

/** What went wrong, in the emulator's own words. */
export function Failure({ error }: { readonly error: unknown }) {
  if (error === undefined) return null;
  return (
    <p class="failure" role="alert">
      {error instanceof Error ? error.message : String(error)}
    </p>
  );
}

/** What stands where nothing is yet, and what to do about it. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export interface LoadingProps {
  readonly value: unknown;
  readonly error: unknown;
}

/** Says that a value is being loaded, or why it is missing or no longer up to date; nothing where all is well. */
export function Loading({ value, error }: LoadingProps) {
  if (error !== undefined) return <Failure error={error} />;
  if (value !== undefined) return null;
  return (
    <p class="loading" role="status">
      Loading…
    </p>
  );
}
