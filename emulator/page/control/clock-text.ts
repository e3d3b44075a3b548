/** Formats the time of the emulator's clock, such as `2026-01-01 00:00:00.000 UTC`. */
export function showTime({ now }: { readonly now: string }): string {
  return `${now.slice(0, 23).replace('T', ' ')} UTC`;
}

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** Formats a duration in its two largest units, such as `1 h 30 min`. A duration of less than one second is `0 s`. */
export function showSpan(milliseconds: number): string {
  let left = Math.floor(milliseconds / 1000);
  const parts: string[] = [];
  for (const [unit, seconds] of UNITS) {
    const amount = Math.floor(left / seconds);
    if (amount > 0) parts.push(`${amount} ${unit}`);
    left -= amount * seconds;
  }
  return parts.slice(0, 2).join(' ') || '0 s';
}
