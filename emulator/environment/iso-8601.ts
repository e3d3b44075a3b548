/** `P1DT2H30M`, `PT0.5S`, `P2W`: no months or years, which are no fixed time. */
const DURATION =
  /^P(?:(\d{1,9})W|(?:(\d{1,9})D)?(?:T(?=\d)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})(?:[.,](\d{1,9}))?S)?)?)$/;

const TIME = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/** Milliseconds of an ISO 8601 duration; undefined where the text is none. */
export function parseDuration(text: string): number | undefined {
  const found = DURATION.exec(text);
  if (!found || text === 'P') return undefined;
  const [, weeks = '0', days = '0', hours = '0', minutes = '0', seconds = '0', fraction = ''] = found;
  const whole = ((Number(weeks) * 7 + Number(days)) * 24 + Number(hours)) * 60 + Number(minutes);
  return (whole * 60 + Number(seconds)) * 1000 + Number(fraction.slice(0, 3).padEnd(3, '0'));
}

/** Milliseconds since 1970 of an ISO 8601 time, which has a zone, or of a day, which begins in UTC. */
export function parseTime(text: string): number | undefined {
  if (!TIME.test(text)) return undefined;
  const time = Date.parse(text);
  // A day that the month does not have becomes one of the next month.
  const isDay =
    Number.isNaN(time) || new Date(`${text.slice(0, 10)}T00:00:00Z`).toISOString().startsWith(text.slice(0, 10));
  return Number.isNaN(time) || !isDay ? undefined : time;
}
