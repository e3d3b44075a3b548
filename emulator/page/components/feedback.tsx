import type { ComponentChildren } from 'preact';

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
