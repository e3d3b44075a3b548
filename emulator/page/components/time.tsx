/**
 * Time of the emulator's clock, from an ISO 8601 text. It is shown in UTC, as clients see it; the day is in the
 * tooltip.
 */
export function Time({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={at} class="figures">
      {at.slice(11, 23)}
    </time>
  );
}

/** Date and time in UTC: `2026-01-01 00:00:00`. */
export function DateTime({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={at} class="figures">
      {at.slice(0, 10)} {at.slice(11, 19)}
    </time>
  );
}

/** Time of a commit, which has the time zone of its author, shown in UTC: `2026-01-01 00:00`. */
export function CommitTime({ at }: { readonly at: string }) {
  return (
    <time class="figures nowrap" dateTime={at} title={at}>
      {inUtc(at)}
    </time>
  );
}

/** Converts a time to UTC; unchanged if its year is beyond the range of `Date`. */
function inUtc(at: string): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? at : time.toISOString().slice(0, 16).replace('T', ' ');
}

const NUMBER = new Intl.NumberFormat('en');

/** Formats a number: `1,234`. */
export function count(value: number): string {
  return NUMBER.format(value);
}

/** Formats a duration: `0.4 ms`, `12 ms`, `3.45 s`. */
export function duration(milliseconds: number): string {
  if (milliseconds >= 1000) return `${(milliseconds / 1000).toFixed(2)} s`;
  return `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`;
}

/** Formats a size in powers of 1,000: `1.2 kB`. */
export function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB'];
  const power = value < 1000 ? 0 : Math.min(3, Math.floor(Math.log10(value) / 3));
  return power === 0 ? `${value} B` : `${(value / 1000 ** power).toFixed(1)} ${units[power]}`;
}
