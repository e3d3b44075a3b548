/** Renders `text` as a `<time>` element. `at` is the time in ISO 8601, which is also the tooltip. */
function timeOf(at: string, text: string, className = 'figures') {
  return (
    <time dateTime={at} title={at} class={className}>
      {text}
    </time>
  );
}

export interface TimeProps {
  readonly at: string;
}

/** Time of day in UTC with milliseconds, by the emulator's clock, such as `12:00:00.000`. */
export const Time = ({ at }: TimeProps) => timeOf(at, at.slice(11, 23));

/** Date and time in UTC, such as `2026-01-01 00:00:00`. */
export const DateTime = ({ at }: TimeProps) => timeOf(at, `${at.slice(0, 10)} ${at.slice(11, 19)}`);

/** Time of a commit, such as `2026-01-01 00:00`. It is converted from the author's time zone to UTC. */
export const CommitTime = ({ at }: TimeProps) => timeOf(at, inUtc(at), 'figures nowrap');

/** Date of a commit in UTC, such as `2026-01-01`. */
export const CommitDate = ({ at }: TimeProps) => timeOf(at, inUtc(at).slice(0, 10), 'figures nowrap');

/**
 * Converts an ISO 8601 time to UTC, with a precision of minutes. A time that `Date` cannot represent is returned
 * unchanged. Such times exist, because the client that made the commit chose the time.
 */
function inUtc(at: string): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? at : time.toISOString().slice(0, 16).replace('T', ' ');
}

const NUMBER = new Intl.NumberFormat('en');

/** Formats a number with thousands separators, such as `1,234`. */
export function count(value: number): string {
  return NUMBER.format(value);
}

/** Formats a duration given in milliseconds, such as `0.4 ms`, `12 ms` or `3.45 s`. */
export function duration(milliseconds: number): string {
  if (milliseconds >= 1000) return `${(milliseconds / 1000).toFixed(2)} s`;
  return `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`;
}

/** Formats a size given in bytes, such as `1.2 kB`. The units are powers of 1,000. */
export function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB'];
  const power = value < 1000 ? 0 : Math.min(3, Math.floor(Math.log10(value) / 3));
  return power === 0 ? `${value} B` : `${(value / 1000 ** power).toFixed(1)} ${units[power]}`;
}
