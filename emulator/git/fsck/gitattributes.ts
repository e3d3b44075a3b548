import { requestLimit } from '../limits/request-limits.js';
import { type Finding, finding } from './messages.js';

const MAX_LINE_BYTES = requestLimit('gitattributesLineBytes');

/** Checks a `.gitattributes` file. A line of 2048 bytes or more is refused, because Git would ignore the whole file. */
export function checkGitattributes(body: Buffer): Finding[] {
  const nul = body.indexOf(0);
  const end = nul < 0 ? body.length : nul;
  for (let start = 0; start < end; ) {
    const feed = body.indexOf(0x0a, start);
    const lineEnd = feed < 0 || feed > end ? end : feed;
    if (lineEnd - start > MAX_LINE_BYTES) {
      return [finding('gitattributesLineLength', '.gitattributes has too long lines to parse')];
    }
    start = lineEnd + 1;
  }
  return [];
}
