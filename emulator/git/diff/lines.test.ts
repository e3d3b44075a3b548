import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { runSync } from '../../schedule/steps.js';
import { IS_COMPLETE, sample, sampleRuns } from '../../test/sample.js';
import { ByteSink } from './byte-sink.js';
import type { Change } from './change.js';
import { writeHunks } from './hunks.js';
import { LineInterner } from './line-interner.js';
import { diffInterned, diffPair, type LineDiffOptions } from './lines.js';
import { RandomText } from './test/random-text.js';

// needs: git

interface Case {
  readonly arguments: readonly string[];
  readonly options: LineDiffOptions;
  readonly context: number;
}

const CASES: readonly Case[] = [
  { arguments: ['-U3'], options: {}, context: 3 },
  { arguments: ['-U0'], options: { trimTail: true }, context: 0 },
  { arguments: ['-b'], options: { ignoreSpaceChange: true }, context: 3 },
  { arguments: ['-U1'], options: {}, context: 1 },
];

function diffLines(before: Buffer, after: Buffer, options: LineDiffOptions = {}): Change[] {
  const interner = new LineInterner(options);
  return runSync(diffPair(interner, runSync(interner.pair(before, after)), options));
}

function hunksOf(before: Buffer, after: Buffer, { options, context }: Case): string {
  const interner = new LineInterner(options);
  const pair = runSync(interner.pair(before, after));
  const sink = new ByteSink();
  runSync(writeHunks(sink, pair.old, pair.new, runSync(diffPair(interner, pair, options)), context));
  return sink.finish().toString('latin1');
}

/** Returns the hunks that `git diff --no-index` prints for pairs of files. The key is the index of the pair. */
function gitHunks(folder: string, pairs: readonly [string, string][], options: readonly string[]): Map<number, string> {
  for (const side of [0, 1] as const) {
    mkdirSync(join(folder, 'ab'[side]!), { recursive: true });
    for (const [index, pair] of pairs.entries()) {
      writeFileSync(join(folder, 'ab'[side]!, String(index)), pair[side], 'latin1');
    }
  }
  const { stdout } = spawnSync('git', ['diff', '--no-index', ...options, 'a', 'b'], {
    cwd: folder,
    env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C' },
    maxBuffer: 1 << 28,
  });
  const hunks = new Map<number, string>();
  for (const patch of stdout.toString('latin1').split(/^(?=diff --git )/m)) {
    const start = patch.search(/^@@ /m);
    const number = /^diff --git a\/a\/(\d+)/.exec(patch)?.[1];
    if (number && start >= 0) hunks.set(Number(number), patch.slice(start));
  }
  return hunks;
}

function compareAll(t: Test, pairs: readonly [string, string][]): void {
  const folder = t.testdir();
  for (const each of CASES) {
    const expected = gitHunks(folder, pairs, each.arguments);
    for (const [index, [before, after]] of pairs.entries()) {
      const found = hunksOf(Buffer.from(before, 'latin1'), Buffer.from(after, 'latin1'), each);
      if (found !== (expected.get(index) ?? '')) {
        t.equal(found, expected.get(index) ?? '', `${each.arguments.join(' ')} of ${JSON.stringify([before, after])}`);
        return;
      }
    }
    t.pass(`${pairs.length} pairs, ${each.arguments.join(' ')}`);
  }
}

t.test('hunks of random edits are those of git diff, byte for byte', async (t) => {
  const random = new RandomText(42);
  const pairs = Array.from({ length: 250 }, (): [string, string] => {
    const before = random.lines();
    const after = random.below(10) === 0 ? random.lines() : random.edit(before);
    return [random.file(before), random.file(after)];
  });
  compareAll(t, sample(t, pairs, 80));
});

t.test('small files over few lines are compared as git diff does', async (t) => {
  const line = fc.constantFrom('a', 'b', '', ' a', '  b', '}', 'a b', 'a  b');
  const file = fc.tuple(fc.array(line, { maxLength: 14 }), fc.boolean()).map(([lines, isComplete]) => {
    return lines.join('\n') + (isComplete && lines.length > 0 ? '\n' : '');
  });
  compareAll(t, fc.sample(fc.tuple(file, file), sampleRuns(t, { numRuns: 400, seed: 7 }, 120)));
});

t.test('large files of much repetition, at the limits of the search, come out as git has them', async (t) => {
  const random = new RandomText(3);
  const pick = (count: number, kinds: number) =>
    Array.from({ length: count }, () => `line ${random.below(kinds)}`).join('\n');
  // Compare pairs of files with more than 65,536 lines in total. Only for these does the search accept a good path
  // before it gives up.
  const long = pick(40_000, 400).split('\n');
  const edited = long.flatMap((line, at) => (at % 35 === 0 ? pick(1 + random.below(3), 400).split('\n') : [line]));
  compareAll(t, [
    [long.join('\n'), edited.join('\n')],
    [pick(6000, 40), pick(6000, 40)],
    [pick(20000, 3000), pick(20000, 3000)],
    ['x\n'.repeat(3000), `${'x\n'.repeat(1000)}y\n${'x\n'.repeat(2500)}`],
    [`${'a'.repeat(100_000)}\nb\n`, `${'a'.repeat(100_001)}\nb\n`],
  ]);
});

t.test('lines numbered by the likeness to another file are those of a file on its own', async () => {
  const line = fc.constantFrom('a\n', 'b\n', 'ab\n', '\n', 'a');
  const file = fc.array(line, { maxLength: 12 }).map((lines) => Buffer.from(lines.join('')));
  const end = fc
    .constantFrom(0, 1, 2047, 2048, 5000)
    .map((size) => `${'x'.repeat(40)}\n`.repeat(size / 40 + 1).slice(-size - 1));
  fc.assert(
    fc.property(file, file, end, end, (before, after, head, tail) => {
      const pad = (middle: Buffer) => Buffer.concat([Buffer.from(head), middle, Buffer.from(tail)]);
      const interner = new LineInterner();
      const like = runSync(interner.split(pad(before)));
      const [short, long] = [runSync(interner.split(pad(after), like)), runSync(interner.split(pad(after)))];
      return short.ids.join() === long.ids.join() && short.starts.join() === long.starts.join();
    }),
    { numRuns: 2000 },
  );
});

t.test('numbering only what lies between the equal ends changes nothing', async () => {
  const line = fc.constantFrom('a\n', 'b\n', 'a \n', ' a\n', '\n', 'ab', '\t}\n', '}\n');
  const file = fc.array(line, { maxLength: 12 }).map((lines) => lines.join(''));
  const end = fc.array(line, { maxLength: 6 }).map((lines) => lines.join('\n'));
  fc.assert(
    fc.property(file, file, end, end, fc.boolean(), fc.boolean(), (before, after, head, tail, space, trimTail) => {
      const pad = (middle: string) => Buffer.from(`${head}\n${middle}${tail.repeat(trimTail ? 1200 : 1)}`);
      const options = { ignoreSpaceChange: space, trimTail };
      const interner = new LineInterner(options);
      const oldLines = runSync(interner.split(pad(before)));
      const all = runSync(diffInterned(interner, oldLines, runSync(interner.split(pad(after))), options));
      return JSON.stringify(diffLines(pad(before), pad(after), options)) === JSON.stringify(all);
    }),
    { numRuns: IS_COMPLETE ? 3000 : 600 },
  );
});

t.test('changes are in order, never touch, and turn one file into the other', async () => {
  const line = fc.constantFrom('a\n', 'b\n', 'c\n', '\n');
  const file = fc.array(line, { maxLength: 30 });
  fc.assert(
    fc.property(file, file, (before, after) => {
      const changes = diffLines(Buffer.from(before.join('')), Buffer.from(after.join('')));
      const result: string[] = [];
      let at = 0;
      for (const [index, change] of changes.entries()) {
        if (index > 0 && change.oldStart === at) return false;
        result.push(...before.slice(at, change.oldStart));
        if (result.length !== change.newStart) return false;
        result.push(...after.slice(change.newStart, change.newStart + change.newCount));
        at = change.oldStart + change.oldCount;
      }
      return [...result, ...before.slice(at)].join('') === after.join('');
    }),
  );
});
