import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { alignLines, RUN } from './aligned-lines.js';
import { splitLines } from './file-lines.js';

t.test('with the help of any other file the lines are the same, and those called equal are', async () => {
  const line = fc.constantFrom('\n', '}\n', 'return\n', 'a long line\n', 'another line\n', 'no feed', 'long');
  const text = fc.array(line, { maxLength: 40 }).map((lines) => Buffer.from(lines.join('')));
  const long = Buffer.from('line of a long file\n'.repeat(300));
  await fc.assert(
    fc.property(text, text, fc.boolean(), (left, right, isLong) => {
      const [file, like] = isLong ? [left, right].map((part) => Buffer.concat([long, part, long])) : [left, right];
      const other = splitLines(like!);
      const { starts, runs } = alignLines(file!, other);
      assert.deepEqual([...starts], [...splitLines(file!).starts]);
      let last = 0;
      for (let at = 0; at < runs.length; at += RUN) {
        const [line, equal, count] = runs.subarray(at, at + RUN) as unknown as [number, number, number];
        assert.ok(line >= last && count > 0, 'runs are in order');
        last = line + count;
        const ours = file!.subarray(starts[line], starts[last]);
        assert.ok(ours.equals(like!.subarray(other.starts[equal], other.starts[equal + count])), ours.toString());
      }
    }),
    { numRuns: 3000, seed: 3 },
  );
});
