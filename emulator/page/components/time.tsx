/** A time of the emulator's clock, ISO 8601: the day is shown on hover, the time always in UTC as clients see it. */
export function Time({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={at} class="figures">
      {at.slice(11, 23)}
    </time>
  );
}

/** `2026-01-01 00:00:00`, UTC. */
export function DateTime({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={at} class="figures">
      {at.slice(0, 10)} {at.slice(11, 19)}
    </time>
  );
}

/** The time of a commit, which has the clock of its author, in UTC as other times are shown: `2026-01-01 00:00`. */
export function CommitTime({ at }: { readonly at: string }) {
  return (
    <time class="figures nowrap" dateTime={at} title={at}>
      {inUtc(at)}
    </time>
  );
}

/** A commit can be of a year that `Date` does not know. */
function inUtc(at: string): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? at : time.toISOString().slice(0, 16).replace('T', ' ');
}

const NUMBER = new Intl.NumberFormat('en');

/** `1,234` */
export function count(value: number): string {
  return NUMBER.format(value);
}

/** `0.4 ms`, `12 ms`, `3.45 s` */
export function duration(milliseconds: number): string {
  if (milliseconds >= 1000) return `${(milliseconds / 1000).toFixed(2)} s`;
  return `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`;
}

/** `1.2 kB`, in powers of 1,000. */
export function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB'];
  const power = value < 1000 ? 0 : Math.min(3, Math.floor(Math.log10(value) / 3));
  return power === 0 ? `${value} B` : `${(value / 1000 ** power).toFixed(1)} ${units[power]}`;
}
