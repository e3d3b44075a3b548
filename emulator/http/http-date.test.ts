import t from 'tap';
import { parseHttpDate } from './http-date.js';

const DAY = 24 * 3600;
const LONG = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** Formats a time (seconds since 1970) in the three date formats of HTTP (RFC 9110, section 5.6.7). */
function formsOf(seconds: number): string[] {
  const date = new Date(seconds * 1000);
  const fixed = date.toUTCString();
  const [, day, month, year, time] = fixed.split(/,? /) as [string, string, string, string, string];
  return [
    fixed,
    `${LONG[date.getUTCDay()]}, ${day}-${month}-${year.slice(2)} ${time} GMT`,
    `${fixed.slice(0, 3)} ${month} ${day.replace(/^0/, ' ')} ${time} ${year}`,
  ];
}

t.test('every day of a leap year is read in all three forms', (t) => {
  const start = Date.UTC(2028, 0, 1) / 1000;
  for (let day = 0; day < 366; day++) {
    const seconds = start + day * (DAY + 229);
    for (const form of formsOf(seconds)) {
      if (parseHttpDate(form) !== seconds) t.fail(`${form} is ${parseHttpDate(form)}, not ${seconds}`);
    }
  }
  t.same(formsOf(start), [
    'Sat, 01 Jan 2028 00:00:00 GMT',
    'Saturday, 01-Jan-28 00:00:00 GMT',
    'Sat Jan  1 00:00:00 2028',
  ]);
  t.end();
});

t.test('two-digit years are from 1970 to 2069', (t) => {
  for (const [digits, year] of [
    ['70', 1970],
    ['99', 1999],
    ['00', 2000],
    ['69', 2069],
  ] as const) {
    t.equal(parseHttpDate(`Monday, 02-Feb-${digits} 00:00:00 GMT`), Date.UTC(year, 1, 2) / 1000, digits);
  }
  t.equal(
    parseHttpDate('Wed, 02 Feb 0070 00:00:00 GMT'),
    Date.UTC(70, 1, 2) / 1000,
    'a four-digit year is not changed',
  );
  t.end();
});

t.test('days and times that do not exist are refused', (t) => {
  for (const text of [
    'Thu, 00 Jan 2026 00:00:00 GMT',
    'Thu, 32 Jan 2026 00:00:00 GMT',
    'Sun, 29 Feb 2026 00:00:00 GMT',
    'Fri, 31 Apr 2026 00:00:00 GMT',
    'Thu, 01 Jan 2026 24:00:00 GMT',
    'Thu, 01 Jan 2026 00:60:00 GMT',
    'Thu, 01 Jan 2026 00:00:61 GMT',
    'Thu, 01 Jan 2026 00:00:00',
    'Thu, 01 Jam 2026 00:00:00 GMT',
    'Thursday, 01 Jan 2026 00:00:00 GMT',
    'Thu Jan 01 00:00:00 26',
    ' Thu, 01 Jan 2026 00:00:00 GMT',
    '',
  ]) {
    t.equal(parseHttpDate(text), undefined, text);
  }
  const end = Date.UTC(2026, 11, 31, 23, 59, 59) / 1000;
  t.equal(parseHttpDate('Thu, 31 Dec 2026 23:59:59 GMT'), end);
  t.equal(parseHttpDate('Thu, 31 Dec 2026 23:59:60 GMT'), end + 1, 'a leap second (RFC 9110, 5.6.7)');
  t.end();
});
