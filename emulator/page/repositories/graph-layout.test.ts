import fc from 'fast-check';
import t from 'tap';
import { COLOURS, GraphLayout, type LaidOut } from './graph-layout.js';

/** Parses commits in a short notation. The line `d: c b` is a commit d with the parents c and b. */
function read(text: string): LaidOut[] {
  return text
    .trim()
    .split('\n')
    .map((line) => line.split(':'))
    .map(([oid, parents = '']) => ({ oid: oid!.trim(), parents: parents.split(' ').filter((name) => name !== '') }));
}

function layOut(commits: readonly LaidOut[]): GraphLayout {
  const layout = new GraphLayout();
  layout.add(commits);
  return layout;
}

/**
 * Returns one text per row of the commit graph. It has the lane (column) of the row's commit, and the lines that cross
 * the row. `down 1>0` is a line from lane 1 to lane 0.
 */
function drawn(text: string): string[] {
  const commits = read(text);
  const layout = layOut(commits);
  return commits.map(({ oid }, row) => {
    const segments = layout.segmentsAt(row).map(({ kind, from, to }) => `${kind} ${from}>${to}`);
    return [`${oid}@${layout.commitAt(row).lane}`, ...segments].join(', ');
  });
}

t.test('one line of commits is one straight lane in one colour', async (t) => {
  t.same(drawn('c: b\nb: a\na:'), ['c@0, out 0>0', 'b@0, in 0>0, out 0>0', 'a@0, in 0>0']);
  const layout = layOut(read('c: b\nb: a\na:'));
  t.equal(layout.width, 1);
  t.equal(new Set([0, 1, 2].map((row) => layout.commitAt(row).colour)).size, 1);
});

t.test('a merge opens a lane, which joins where the branch began', async (t) => {
  t.same(drawn('m: b x\nx: a\nb: a\na:'), [
    'm@0, out 0>0, out 0>1',
    'x@1, down 0>0, in 1>1, out 1>1',
    'b@0, down 1>0, in 0>0, out 0>0',
    'a@0, in 0>0',
  ]);
});

t.test('a branch joins the lane further left that already waits for its first commit', async (t) => {
  t.same(drawn('b: a\nx: a\na:'), ['b@0, out 0>0', 'x@1, down 0>0, out 1>0', 'a@0, in 0>0']);
});

t.test('lanes are reused, and an octopus merge reaches all its parents', async (t) => {
  const rows = drawn('m: a b c d\nd:\nc:\nb:\nz: y\ny:\na:');
  t.equal(rows[0], 'm@0, out 0>0, out 0>1, out 0>2, out 0>3');
  t.equal(rows[4], 'z@1, down 0>0, out 1>1', 'a lane that ended');
  t.equal(layOut(read('m: a b c d\nd:\nc:\nb:\nz: y\ny:\na:')).width, 4);
});

t.test('a parent that is named twice is one line', async (t) => {
  t.same(drawn('m: a a\na:'), ['m@0, out 0>0', 'a@0, in 0>0']);
});

/**
 * Random histories in which parents come after their children. Some parents are missing, as in shallow repositories.
 */
const histories = fc.array(fc.array(fc.nat(40), { maxLength: 4 }), { minLength: 1, maxLength: 60 }).map((rows) =>
  rows.map((steps, row) => ({
    oid: `${(row * 2_654_435_761).toString(16)}-${row}`,
    parents: steps.map((step) => row + 1 + step).map((at) => `${(at * 2_654_435_761).toString(16)}-${at}`),
  })),
);

t.test('in any history every line leads from a commit to its parent, and no lane carries two', async () => {
  fc.assert(
    fc.property(histories, (commits) => {
      const layout = layOut(commits);
      /** Target commit of each line that crosses the edge between two rows, by lane (column of the graph). */
      let lanes = new Map<number, string>();
      const isAwaited = new Set<string>();
      for (const [row, { oid, parents }] of commits.entries()) {
        const { lane } = layout.commitAt(row);
        const segments = layout.segmentsAt(row);
        const below = new Map<number, string>();
        const lead = (at: number, target: string) => {
          if ((below.get(at) ?? target) !== target) throw new Error(`row ${row}: lane ${at} has two lines`);
          below.set(at, target);
        };
        const ins = segments.filter(({ kind }) => kind === 'in');
        const downs = segments.filter(({ kind }) => kind === 'down');
        if (ins.length !== Number(isAwaited.has(oid))) throw new Error(`row ${row}: not reached by its children`);
        for (const { from, to } of ins)
          if (lanes.get(from) !== oid || to !== lane) throw new Error(`row ${row}: a line of another commit ends here`);
        if (downs.length + ins.length !== lanes.size) throw new Error(`row ${row}: a line breaks off`);
        for (const { from, to } of downs) {
          const target = lanes.get(from)!;
          if (target === oid || (from === lane && ins.length > 0)) throw new Error(`row ${row}: a line misses its end`);
          if (from === lane) throw new Error(`row ${row}: a line runs through the commit`);
          lead(to, target);
        }
        const outs = segments.filter(({ kind }) => kind === 'out');
        const distinct = [...new Set(parents)];
        if (outs.length !== distinct.length) throw new Error(`row ${row}: a parent has no line`);
        for (const [at, { from, to }] of outs.entries()) {
          if (from !== lane) throw new Error(`row ${row}: a line begins beside the commit`);
          lead(to, distinct[at]!);
          const left = downs.find((down) => down.from === to && down.to !== to);
          if (left && to !== lane) throw new Error(`row ${row}: a line begins where another turns away`);
        }
        for (const { colour } of segments) if (colour < 0 || colour >= COLOURS) throw new Error('no such colour');
        for (const parent of parents) isAwaited.add(parent);
        if (new Set(below.values()).size !== below.size) throw new Error(`row ${row}: two lanes wait for one commit`);
        lanes = below;
      }
    }),
    { numRuns: 400, seed: 1 },
  );
});

t.test('neighbouring lanes have different colours', async (t) => {
  const layout = layOut(read('1: a\n9: b\n11: c\n19: d\na:\nb:\nc:\nd:'));
  t.equal(new Set([0, 1, 2, 3].map((row) => layout.commitAt(row).colour)).size, 4);
});

t.test('the layout is identical page by page and all at once', async (t) => {
  fc.assert(
    fc.property(histories, fc.nat(60), (commits, cut) => {
      const whole = layOut(commits);
      const parts = new GraphLayout();
      parts.add(commits.slice(0, cut));
      parts.add(commits.slice(cut));
      for (const row of commits.keys()) {
        t.same(parts.segmentsAt(row), whole.segmentsAt(row));
        t.same(parts.commitAt(row), whole.commitAt(row));
      }
      return parts.width === whole.width;
    }),
    { numRuns: 20, seed: 1 },
  );
});

t.test(
  '20,000 commits are laid out in few bytes, and lines keep their colour when commits come before them',
  async (t) => {
    const commits = Array.from({ length: 20_000 }, (_, row) => ({
      oid: `${(row + 16).toString(16)}`,
      parents:
        row % 3 === 0 ? [`${(row + 17).toString(16)}`, `${(row + 25).toString(16)}`] : [`${(row + 17).toString(16)}`],
    }));
    const layout = layOut(commits);
    t.not(layout.segmentsAt(19_998).length, 0);
    t.same(layout.segmentsAt(20_000), []);
    t.ok(layout.width < 12);
    const first = layOut(read('aaaaaa: 0b\n0b: 0c\n0c:'));
    const later = layOut(read('ffffff: 0c\naaaaaa: 0b\n0b: 0c\n0c:'));
    t.equal(first.commitAt(0).colour, later.commitAt(1).colour);
  },
);

t.test('thousands of parallel branches take limited space in each row', async (t) => {
  const commits = Array.from({ length: 4_000 }, (_, row) => ({
    oid: row.toString(16),
    parents: [(row + 0x10_0000).toString(16)],
  }));
  const layout = layOut(commits);
  t.ok(layout.segmentsAt(3_999).length < 300);
});
