/** ISO 8601 durations without years and months, whose length is not always the same: `PT1.5S`, `P1DT12H`. */
const DURATION = /^P(?!$)(?:(\d+)W|(?:(\d+)D)?(?:T(?!$)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d{1,3})?)S)?)?)$/;

/** The milliseconds of a duration; undefined for what is none. */
export function readDuration(text: string): number | undefined {
  const match = DURATION.exec(text);
  if (!match) return undefined;
  const [weeks, days, hours, minutes, seconds] = match.slice(1).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
  ];
  return Math.round(((((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000);
}
