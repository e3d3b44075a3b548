import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { alignLines, UNMATCHED } from './aligned-lines.js';
import { splitLines } from './file-lines.js';

t.test('with the help of any other file the lines are the same, and those called equal are', async () => {
  const line = fc.constantFrom('\n', '}\n', 'return\n', 'a long line\n', 'another line\n', 'no feed', 'long');
  const text = fc.array(line, { maxLength: 40 }).map((lines) => Buffer.from(lines.join('')));
  const long = Buffer.from('line of a long file\n'.repeat(300));
  await fc.assert(
    fc.property(text, text, fc.boolean(), (left, right, isLong) => {
      const [file, like] = isLong ? [left, right].map((part) => Buffer.concat([long, part, long])) : [left, right];
      const other = splitLines(like!);
      const { starts, equals } = alignLines(file!, other);
      assert.deepEqual([...starts], [...splitLines(file!).starts]);
      for (const [at, equal] of equals.entries()) {
        if (equal === UNMATCHED) continue;
        const ours = file!.subarray(starts[at], starts[at + 1]);
        assert.ok(ours.equals(like!.subarray(other.starts[equal], other.starts[equal + 1])), ours.toString());
      }
    }),
    { numRuns: 3000, seed: 3 },
  );
});
