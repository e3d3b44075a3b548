import { deflateSync } from 'node:zlib';
import { writeBase85 } from './base85.js';
import type { ByteSink } from './byte-sink.js';
import { encodeDelta } from './delta.js';

/**
 * Writes a binary change so that it can be applied both ways:
 *
 *     GIT binary patch
 *     literal <size> | delta <size>      (of what follows, inflated)
 *     <lines of base 85>                 (deflated)
 *     <empty line>
 *     (the same once more, from new to old)
 */
export function writeBinaryPatch(sink: ByteSink, before: Buffer, after: Buffer): void {
  sink.string('GIT binary patch\n');
  writeHunk(sink, before, after);
  writeHunk(sink, after, before);
}

function writeHunk(sink: ByteSink, from: Buffer, to: Buffer): void {
  const literal = deflateSync(to, { level: 1 });
  const delta = from.length > 0 && to.length > 0 ? encodeDelta(from, to, literal.length) : undefined;
  const packed = delta && deflateSync(delta, { level: 1 });
  if (packed && packed.length < literal.length) {
    sink.string(`delta ${delta.length}\n`);
    writeBase85(sink, packed);
  } else {
    sink.string(`literal ${to.length}\n`);
    writeBase85(sink, literal);
  }
  sink.string('\n');
}
