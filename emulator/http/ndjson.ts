import { GatheredBytes } from './gathered-bytes.js';
import { problem } from './problem.js';

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** Maximum number of blank lines in a body. A blank line costs the client only one byte, but makes the server work. */
const MAX_BLANK_LINES = 1_000;

/**
 * Splits a request body into its lines (https://github.com/ndjson/ndjson-spec):
 *
 *     Each JSON text MUST conform to the [RFC8259] standard and MUST be written to the stream followed
 *     by the newline character \n (0x0A). The newline character MAY be preceded by a carriage return \r
 *     (0x0D). The parser MAY silently ignore empty lines.
 *
 * Yields each line as bytes, which the caller decodes. The last line may lack its newline. `maxLineBytes` returns the
 * maximum length of the line with a given index, counted from 0. Throws `bad_request` if a line is longer.
 */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  maxLineBytes: (line: number) => number,
): AsyncGenerator<Buffer> {
  const held = new GatheredBytes();
  let line = 0;
  let blank = 0;
  const hold = (part: Buffer): void => {
    if (held.length + part.length > maxLineBytes(line)) {
      throw problem(
        'bad_request',
        `Line ${line + 1} is longer than ${maxLineBytes(line)} bytes (--max-line-bytes, for the first line --max-metadata-bytes).`,
      );
    }
    held.add(part);
  };
  const take = (): Buffer | undefined => {
    let whole = held.take();
    if (whole.length > 0 && whole[whole.length - 1] === CARRIAGE_RETURN) whole = whole.subarray(0, -1);
    if (whole.length > 0) {
      line += 1;
      return whole;
    }
    blank += 1;
    if (blank > MAX_BLANK_LINES) throw problem('bad_request', `The body has more than ${MAX_BLANK_LINES} blank lines.`);
    return undefined;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      hold(chunk.subarray(start, end));
      start = end + 1;
      const whole = take();
      if (whole) yield whole;
    }
    if (start < chunk.length) hold(chunk.subarray(start));
  }
  if (held.length > 0) {
    const whole = take();
    if (whole) yield whole;
  }
}
