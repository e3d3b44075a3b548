const TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** Milliseconds since 1970 of an ISO 8601 time: `2026-01-01`, `2026-01-01T00:00:00Z`; undefined for anything else. */
export function readIsoTime(text: string): number | undefined {
  const time = TIME.test(text) ? Date.parse(text) : Number.NaN;
  // A day that its month does not have would be one of the next month.
  return Number.isNaN(time) || !isDayOfMonth(text) ? undefined : time;
}

function isDayOfMonth(text: string): boolean {
  const [year, month, day] = text.slice(0, 10).split('-').map(Number) as [number, number, number];
  return day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** ISO 8601: `P[n]W`, or `P[n]DT[n]H[n]M[n]S`, of which the last may have a fraction. Years and months have no one length. */
const DURATION = /^P(?:(\d+)W|(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:[.,](\d{1,3}))?S)?)?)$/;

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;

/** Milliseconds of a duration: ISO 8601 (`PT30S`, `P1DT2H`, `PT0.5S`), or `30s` and the like; undefined for anything else. */
export function readDuration(text: string): number | undefined {
  const milliseconds = text.startsWith('P') ? readIsoDuration(text) : readShort(text);
  return milliseconds !== undefined && Number.isSafeInteger(milliseconds) ? milliseconds : undefined;
}

function readIsoDuration(text: string): number | undefined {
  const match = DURATION.exec(text);
  if (!match || /[PT]$/.test(text)) return undefined;
  const [, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0, fraction = ''] = match;
  return (
    Number(weeks) * WEEK +
    Number(days) * DAY +
    Number(hours) * HOUR +
    Number(minutes) * MINUTE +
    Number(seconds) * SECOND +
    Number(fraction.padEnd(3, '0'))
  );
}

const UNITS: ReadonlyMap<string | undefined, number> = new Map([
  ['ms', 1],
  ['s', SECOND],
  ['m', MINUTE],
  ['h', HOUR],
  ['d', DAY],
]);

function readShort(text: string): number | undefined {
  const [, digits, unit] = /^(\d+)([a-z]+)$/.exec(text) ?? [];
  const factor = UNITS.get(unit);
  return factor === undefined ? undefined : Number(digits) * factor;
}
