const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MONTH = `(?<month>${MONTHS.join('|')})`;
const TIME = '(?<hour>[01]\\d|2[0-3]):(?<minute>[0-5]\\d):(?<second>[0-5]\\d|60)';
const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'].join('|');
const LONG_DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'].join('|');

const FORMS = [
  new RegExp(`^(?:${DAYS}), (?<day>\\d\\d) ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`),
  new RegExp(`^(?:${LONG_DAYS}), (?<day>\\d\\d)-${MONTH}-(?<year>\\d\\d) ${TIME} GMT$`),
  new RegExp(`^(?:${DAYS}) ${MONTH} (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})$`),
];

/**
 * Two-digit years from 70 on are in the 20th century (70 is 1970). Smaller ones are in the 21st century, because no
 * commit or file is older than 1970.
 */
const PIVOT = 70;

/**
 * Returns the time of an HTTP-date in seconds since 1970. Returns undefined for any other text; the caller must then
 * ignore the header field. RFC 9110, section 5.6.7:
 *
 *     IMF-fixdate  Sun, 06 Nov 1994 08:49:37 GMT
 *     rfc850-date  Sunday, 06-Nov-94 08:49:37 GMT
 *     asctime-date Sun Nov  6 08:49:37 1994
 */
export function parseHttpDate(text: string): number | undefined {
  for (const form of FORMS) {
    const parts = form.exec(text)?.groups;
    if (!parts) continue;
    const digits = Number(parts.year);
    const year = parts.year!.length === 4 ? digits : digits + (digits < PIVOT ? 2000 : 1900);
    const month = MONTHS.indexOf(parts.month!);
    const day = Number(parts.day);
    const time = Date.UTC(year, month, day, Number(parts.hour), Number(parts.minute), Number(parts.second));
    // Compares the day with the length of the month, because `Date.UTC` turns 30 February into 2 March.
    return day >= 1 && day <= new Date(Date.UTC(year, month + 1, 0)).getUTCDate() ? time / 1000 : undefined;
  }
  return undefined;
}
