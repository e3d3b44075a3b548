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

export function Loading() {
  return (
    <p class="loading" role="status">
      Loading…
    </p>
  );
}
