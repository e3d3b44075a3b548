import type { Steps } from '../../schedule/steps.js';
import { diffDelta } from '../pack/diff-delta.js';
import { writeBase85 } from './base85.js';
import type { ByteSink } from './byte-sink.js';
import { deflate } from './deflate.js';

/**
 * Writes the change of a binary file as a patch that can be applied in both directions:
 *
 *     GIT binary patch
 *     literal <size> | delta <size>      (size of the inflated data)
 *     <lines of base 85>                 (deflated data)
 *     <empty line>
 *     (a second hunk in this form, from new to old)
 */
export function* writeBinaryPatch(sink: ByteSink, before: Buffer, after: Buffer): Steps<void> {
  sink.ascii('GIT binary patch\n');
  yield* writeHunk(sink, before, after);
  yield* writeHunk(sink, after, before);
}

function* writeHunk(sink: ByteSink, from: Buffer, to: Buffer): Steps<void> {
  const literal = yield* deflate(to);
  const delta = from.length > 0 && to.length > 0 ? yield* diffDelta(from, to, literal.length) : undefined;
  const packed = delta && (yield* deflate(delta));
  if (packed && packed.length < literal.length) {
    sink.ascii(`delta ${delta.length}\n`);
    yield* writeBase85(sink, packed);
  } else {
    sink.ascii(`literal ${to.length}\n`);
    yield* writeBase85(sink, literal);
  }
  sink.ascii('\n');
}
