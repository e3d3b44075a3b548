import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { Meter, WorkLimitExceeded } from '../../schedule/meter.js';
import { Schedule } from '../../schedule/schedule.js';
import { runSync } from '../../schedule/steps.js';
import { unlimited } from '../../schedule/test/unlimited.js';
import { sampleRuns } from '../../test/sample.js';
import { bytesOf } from '../object/bytes.js';
import type { LinkReader } from '../object/link-reader.js';
import { type Oid, ZERO_OID } from '../object/object.js';
import { formatMode } from '../object/tree.js';
import { History } from '../revwalk/history.js';
import { GeneratedHistory } from '../test/generated-history.js';
import { MemoryObjects } from '../test/memory-objects.js';
import { walkTree } from '../test/walk-tree.js';
import { ScratchGit } from '../test/workbench.js';
import { type CommitMerge, mergeCommits } from './merge.js';
import { OverlayObjects } from './overlay.js';
import {
  all,
  apply,
  change,
  commit,
  commitTree,
  drop,
  edit,
  type Files,
  files,
  lines,
  move,
  put,
} from './test/files.js';
import { mergeTexts } from './three-way.js';

t.test('every kind of change and conflict leaves the tree and the paths that git merge-tree leaves', async (t) => {
  const base: Files = {
    'a.txt': lines(1, 40),
    'b.txt': lines(50, 90),
    'dir/one': lines(100, 120),
    'dir/two': lines(130, 150),
    'dir/three': lines(160, 180),
    'dir/sub/four': lines(190, 210),
    'x/same': lines(400, 420),
    'y/same': lines(400, 420),
    'dir/last': lines(500, 520),
    alike: lines(500, 512) + lines(600, 608),
    run: 'script\n',
    link: '->a.txt',
    module: '@1',
    binary: '\0one',
    data: `\0${lines(700, 740)}`,
  };
  const cases: Readonly<Record<string, readonly [ours: (files: Files) => Files, theirs: (files: Files) => Files]>> = {
    'changes far apart': [edit('a.txt', 3), edit('a.txt', 30)],
    'changes of neighbouring lines': [edit('a.txt', 10), edit('a.txt', 11)],
    'the same change': [edit('a.txt', 10), edit('a.txt', 10)],
    'changes of one line': [edit('a.txt', 10, 'x'), edit('a.txt', 10, 'y')],
    'a change and a deletion': [edit('a.txt', 10), drop('a.txt')],
    'deleted on both sides': [drop('a.txt'), drop('a.txt')],
    'added alike': [put('new', 'text\n'), put('new', 'text\n')],
    'added differently': [put('new', 'one\ntwo\n'), put('new', 'one\n2\n')],
    'renamed and changed': [move('a.txt', 'c.txt'), edit('a.txt', 10)],
    'renamed with changes and changed': [all(move('a.txt', 'c.txt'), edit('c.txt', 3)), edit('a.txt', 30)],
    'renamed with changes and changed at the same place': [
      all(move('a.txt', 'c.txt'), edit('c.txt', 3, 'x')),
      edit('a.txt', 3),
    ],
    'renamed and deleted': [move('a.txt', 'c.txt'), drop('a.txt')],
    'renamed and changed, and deleted': [all(move('a.txt', 'c.txt'), edit('c.txt', 3)), drop('a.txt')],
    'renamed to one name': [move('a.txt', 'c.txt'), all(move('a.txt', 'c.txt'), edit('c.txt', 3))],
    'renamed to two names': [move('a.txt', 'c.txt'), all(move('a.txt', 'd.txt'), edit('d.txt', 3))],
    'two files renamed to one name': [move('a.txt', 'c.txt'), move('b.txt', 'c.txt')],
    'renamed to a name that the other side adds': [
      move('a.txt', 'c.txt'),
      all(put('c.txt', lines(300, 340)), edit('a.txt', 3)),
    ],
    'renamed, deleted, and the name taken': [move('a.txt', 'c.txt'), all(drop('a.txt'), put('c.txt', lines(300, 340)))],
    'renamed, and renamed with changes to the same name where a link takes the old name': [
      move('a.txt', 'c.txt'),
      all(move('a.txt', 'c.txt'), edit('c.txt', 3), put('a.txt', '->b.txt')),
    ],
    'renamed, and the old name becomes a link and the new name is taken': [
      move('a.txt', 'c.txt'),
      all(put('a.txt', '->b.txt'), put('c.txt', lines(300, 340))),
    ],
    'renamed with changes to a name that the other side adds, which changes the old name too': [
      all(move('a.txt', 'c.txt'), edit('c.txt', 30)),
      all(put('c.txt', lines(300, 340)), edit('a.txt', 3)),
    ],
    'a binary file renamed apart, changed on both sides': [
      all(move('data', 'd1'), put('d1', `\0${lines(700, 740)}ours\n`)),
      all(move('data', 'd2'), put('d2', `\0${lines(700, 740)}theirs\n`)),
    ],
    'renames that swap two files': [
      all(move('a.txt', 't'), move('b.txt', 'a.txt'), move('t', 'b.txt')),
      edit('a.txt', 3),
    ],
    'equal files renamed into new folders, one of them changed': [
      all(move('x', 'p'), move('y', 'q')),
      edit('x/same', 3),
    ],
    'a folder is renamed for sure, so its last file leaves a likeness to another': [
      all(move('dir', 'e'), drop('e/last'), drop('alike'), put('z', lines(500, 518) + lines(700, 702))),
      all(put('dir/new', 'new\n'), edit('alike', 1)),
    ],
    'a file becomes a folder': [all(drop('a.txt'), put('a.txt/in', 'in\n')), edit('a.txt', 10)],
    'a folder becomes a file': [all(drop('dir'), put('dir', 'file\n')), edit('dir/one', 3)],
    'a folder becomes a file, and the folder is deleted': [all(drop('dir'), put('dir', 'file\n')), drop('dir')],
    'a file and a folder are added': [put('new', 'file\n'), put('new/in', 'in\n')],
    'a file becomes a link': [all(drop('a.txt'), put('a.txt', '->b.txt')), edit('a.txt', 10)],
    'a file is added, and a link': [put('new', 'file\n'), put('new', '->b.txt')],
    'a link is added, and a file': [put('new', '->b.txt'), put('new', 'file\n')],
    'a link is added, and a submodule': [put('new', '->b.txt'), put('new', '@2')],
    'links to different places': [put('link', '->x'), put('link', '->y')],
    'submodules at different commits': [put('module', '@2'), put('module', '@3')],
    'a submodule and its removal': [put('module', '@2'), drop('module')],
    'one mode': [put('run', '!script\n'), edit('a.txt', 2)],
    'a mode and a change': [put('run', '!script\n'), put('run', 'script 2\n')],
    'a file added with two modes': [put('new', '!text\n'), put('new', 'text\n')],
    'binary files': [put('binary', '\0two'), put('binary', '\0three')],
    'binary files renamed apart': [all(move('binary', 'b1')), all(move('binary', 'b2'))],
    'a folder is renamed, and a file added in it': [move('dir', 'place'), put('dir/new', 'new\n')],
    'a folder is renamed, and a file renamed into it': [
      move('dir', 'place'),
      all(move('a.txt', 'dir/a.txt'), edit('b.txt', 2)),
    ],
    'a folder is renamed, and a folder added in it': [move('dir', 'place'), put('dir/more/new', 'new\n')],
    'a folder is split': [
      all(move('dir/one', 'p/one'), move('dir/two', 'q/two'), drop('dir')),
      put('dir/new', 'new\n'),
    ],
    'folders renamed on both sides': [move('dir', 'p'), all(move('dir', 'q'), put('q/new', 'new\n'))],
    'a folder is renamed onto a file of the other side': [
      move('dir', 'place'),
      all(put('dir/new', 'new\n'), put('place/new', 'old\n')),
    ],
    'two folders become one, and both get a file': [
      all(move('dir/sub', 'place'), move('dir', 'place')),
      all(put('dir/new', 'new\n'), put('dir/sub/new', 'other\n')),
    ],
    'a folder moves to the root': [
      all(move('dir/one', 'one'), move('dir/two', 'two'), move('dir/three', 'three'), drop('dir')),
      put('dir/new', 'n\n'),
    ],
    'only a folder that the other side left alone': [edit('dir/one', 3), (files) => files],
    'everything is deleted': [() => ({ kept: 'x\n' }), edit('a.txt', 3)],
  };
  using git = new ScratchGit();
  for (const [title, [ours, theirs]] of Object.entries(cases)) {
    for (const [left, right] of [
      [ours, theirs],
      [theirs, ours],
    ] as const) {
      const objects = new MemoryObjects();
      const root = commit(objects, base, []);
      const [a, b] = [commit(objects, left(base), [root], 1), commit(objects, right(base), [root], 2)];
      git.copy(objects);
      t.same(await merge(objects, a, b), gitMerge(git, a, b), title);
    }
  }
});

t.test('histories without a common commit merge over nothing', async (t) => {
  using git = new ScratchGit();
  const objects = new MemoryObjects();
  const [a, b] = [commit(objects, { a: 'a\n', c: 'x\n' }, []), commit(objects, { b: 'b\n', c: 'y\n' }, [], 1)];
  git.copy(objects);
  const ours = await merge(objects, a, b);
  t.same(ours, gitMerge(git, a, b));
  t.match(ours, { isClean: false });
});

t.test('random sides of a random base merge as git merges them', async (t) => {
  using git = new ScratchGit();
  await fc.assert(
    fc.asyncProperty(
      files,
      fc.array(change, { maxLength: 6 }),
      fc.array(change, { maxLength: 6 }),
      async (base, left, right) => {
        const objects = new MemoryObjects();
        const root = commit(objects, base, []);
        const a = commit(objects, apply(base, left), [root], 1);
        const b = commit(objects, apply(base, right), [root], 2);
        git.copy(objects);
        await compare(objects, git, a, b);
      },
    ),
    sampleRuns(t, { numRuns: 150, seed: 5 }, 40),
  );
});

t.test('random criss-cross histories merge over merged bases as in git', async (t) => {
  using git = new ScratchGit();
  const changes = fc.array(change, { maxLength: 3 });
  const step = fc.tuple(changes, changes);
  await fc.assert(
    fc.asyncProperty(files, fc.array(step, { minLength: 2, maxLength: 4 }), async (base, steps) => {
      const objects = new MemoryObjects();
      let [left, right] = [base, base];
      let time = 0;
      let tips = [commit(objects, base, [])];
      for (const [ours, theirs] of steps) {
        // Give each merge commit its own side's tree with random changes. A real merge of both trees is not needed.
        [left, right] = [apply(left, ours), apply(right, theirs)];
        tips = [commit(objects, left, tips, ++time), commit(objects, right, [...tips].reverse(), ++time)];
      }
      git.copy(objects);
      await compare(objects, git, tips[0]!, tips[1]!);
    }),
    sampleRuns(t, { numRuns: 50, seed: 9 }, 12),
  );
});

t.test('any two commits of a generated history merge as in git', async () => {
  for (const seed of [1, 2]) {
    using history = new GeneratedHistory({ seed, commits: 60, skew: 500 });
    for (let round = 0; round < 25; round++) {
      const [a, b] = [pick(history), pick(history)];
      await compare(history.objects, history.git, a, b);
    }
  }
});

t.test('random texts merge line by line as git merge-file does', async (t) => {
  using git = new ScratchGit();
  const line = fc.constantFrom('a', 'b', 'c', '{', '}', '', 'return');
  const text = fc.tuple(fc.array(line, { maxLength: 30 }), fc.constantFrom('\n', '\r\n'), fc.boolean());
  await fc.assert(
    fc.asyncProperty(
      text,
      fc.array(fc.tuple(fc.nat(30), line), { maxLength: 6 }),
      fc.array(fc.tuple(fc.nat(30), line), { maxLength: 6 }),
      async (text, left, right) => {
        const [base, end, hasEnd] = text;
        const write = (edits: readonly (readonly [number, string])[]) => {
          const changed: string[] = [...base];
          for (const [at, with_] of edits) changed.splice(at, at % 3, with_);
          return Buffer.from(changed.join(end) + (hasEnd ? end : ''));
        };
        const [original, ours, theirs] = [write([]), write(left), write(right)];
        const objects = new MemoryObjects();
        const root = commit(objects, { f: original.toString('latin1') }, []);
        const a = commit(objects, { f: ours.toString('latin1') }, [root], 1);
        const b = commit(objects, { f: theirs.toString('latin1') }, [root], 2);
        git.copy(objects);
        await compare(objects, git, a, b);
      },
    ),
    sampleRuns(t, { numRuns: 80, seed: 2 }, 20),
  );
});

t.test('markers carry the labels and the line ends of the file', async (t) => {
  const [base, ours, theirs] = ['a\r\n1\r\nz\r\n', 'a\r\n2\r\nz\r\n', 'a\r\n3\r\nz\r\n'].map((text) =>
    Buffer.from(text),
  );
  const { body, isClean } = runSync(mergeTexts(base!, ours!, theirs!, { ours: 'main', theirs: 'topic' }, 2));
  t.equal(isClean, false);
  t.equal(body.toString(), 'a\r\n<<<<<<<<< main\r\n2\r\n=========\r\n3\r\n>>>>>>>>> topic\r\nz\r\n');
});

t.test('messages say what happened to which path', async (t) => {
  const objects = new MemoryObjects();
  const root = commit(objects, { a: lines(0, 20), b: 'b\n' }, []);
  const ours = commit(objects, { c: lines(0, 20), b: 'x\n' }, [root], 1);
  const theirs = commit(objects, { d: lines(0, 20), b: 'y\n' }, [root], 2);
  const { messages, bases } = await run(objects, ours, theirs);
  t.same(messages, [
    { kind: 'rename/rename', paths: ['a', 'c', 'd'] },
    { kind: 'content', paths: ['b'] },
  ]);
  t.same(bases, [root]);
});

t.test('of equal files the first one in the order of tree entries was renamed', async () => {
  using git = new ScratchGit();
  const objects = new MemoryObjects();
  // Use the names `d` and `d.c`. A tree sorts the folder `d` as `d/`, so that `d.c` comes before the contents of `d`.
  const base: Files = { 'd.c': lines(0, 20), 'd/b': lines(0, 20), 'e.c': lines(30, 50), e: lines(30, 50) };
  const moved: Files = { z: lines(0, 20), y: lines(30, 50) };
  const root = commit(objects, base, []);
  const ours = [drop('d.c'), drop('d'), drop('e.c'), all(drop('d.c'), drop('d')), all(drop('e.c'), drop('e'))];
  for (const remove of ours) {
    for (const path of ['d.c', 'd/b', 'e.c', 'e']) {
      const target = path.startsWith('d') ? 'z' : 'y';
      const mine = commit(objects, put(target, moved[target]!)(remove(base)), [root], 1);
      const theirs = commit(objects, edit(path, 3)(base), [root], 2);
      git.copy(objects);
      await compare(objects, git, mine, theirs);
      await compare(objects, git, theirs, mine);
    }
  }
});

t.test('a ladder of crossings does not grow the stack, deep trees do not either', async (t) => {
  const objects = new MemoryObjects();
  let tips = [commit(objects, { f: '0\n' }, [])];
  for (let step = 1; step <= 150; step++) {
    tips = [
      commit(objects, { f: `${step}\n` }, tips, 2 * step),
      commit(objects, { f: `-${step}\n` }, tips, 2 * step + 1),
    ];
  }
  t.equal((await run(objects, tips[0]!, tips[1]!)).isClean, false);

  const deep = (text: string) => {
    let tree = objects.tree({ leaf: text });
    for (let depth = 0; depth < 5000; depth++)
      tree = objects.add('tree', `40000 d\0${Buffer.from(tree, 'hex').toString('latin1')}`);
    return tree;
  };
  const root = commitTree(objects, deep(lines(0, 20)), []);
  const [a, b] = [edit('f', 2), edit('f', 18)].map((change) =>
    commitTree(objects, deep(change({ f: lines(0, 20) }).f!), [root], 1),
  );
  t.equal((await run(objects, a!, b!)).isClean, true);
});

t.test('a merge ends at its deadline and when its client has gone', async (t) => {
  const objects = new MemoryObjects();
  const many = (text: string) =>
    Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`d${at}/f`, `${text}${at}\n`]));
  const root = commit(objects, many('a'), []);
  const [a, b] = [commit(objects, many('b'), [root], 1), commit(objects, many('c'), [root], 2)];
  const schedule = new Schedule();
  const options = { ours: bytesOf('a'), theirs: bytesOf('b') };
  const overlay = () => new OverlayObjects(objects);
  await t.rejects(
    mergeCommits(overlay(), new History(objects), a, b, { ...options, meter: new Meter({ schedule, limit: 0.03 }) }),
    new WorkLimitExceeded(),
  );
  const meter = new Meter({ schedule, signal: AbortSignal.abort(new Error('gone')) });
  await t.rejects(mergeCommits(overlay(), new History(objects), a, b, { ...options, meter }), {
    message: 'gone',
  });
});

t.test('text that equal lines crowd does not take more than linear time', async (t) => {
  const objects = new MemoryObjects();
  const text = (seed: number) => Array.from({ length: 20_000 }, (_, at) => `${(at * seed) % 300}\n`).join('');
  const root = commit(objects, { f: text(7) }, []);
  const [a, b] = [commit(objects, { f: text(11) }, [root], 1), commit(objects, { f: text(13) }, [root], 2)];
  t.equal((await run(objects, a, b)).conflicts.length, 1);
});

function run(objects: LinkReader, ours: Oid, theirs: Oid): Promise<CommitMerge> {
  return mergeCommits(new OverlayObjects(objects), new History(objects), ours, theirs, {
    meter: unlimited(),
    ours: bytesOf(ours),
    theirs: bytesOf(theirs),
  });
}

interface Outcome {
  readonly tree: string;
  readonly isClean: boolean;
  readonly stages: readonly string[];
}

async function merge(objects: LinkReader, ours: Oid, theirs: Oid): Promise<Outcome> {
  const overlay = new OverlayObjects(objects);
  const labels = { ours: bytesOf(ours), theirs: bytesOf(theirs) };
  const merged = await mergeCommits(overlay, new History(objects), ours, theirs, { meter: unlimited(), ...labels });
  const { tree, isClean, conflicts } = merged;
  for (const { path, oid } of walkTree(overlay, tree)) assert.notEqual(oid, ZERO_OID, path);
  const stages = conflicts.flatMap(({ path, base, ours, theirs }) =>
    [base, ours, theirs].flatMap((version, stage) =>
      version === undefined ? [] : [`${formatMode(version.mode)} ${version.oid} ${stage + 1}\t${path}`],
    ),
  );
  return { tree, isClean, stages };
}

function gitMerge(git: ScratchGit, ours: Oid, theirs: Oid): Outcome | undefined {
  const options = ['--write-tree', '--no-messages', '--allow-unrelated-histories', '-z'];
  const { stdout, status, stderr } = git.try(['merge-tree', ...options, ours, theirs]);
  // Skip renames onto folders on which Git 2.39 fails. It aborts, or writes entries with mode 0.
  if (stderr.includes('Assertion') || stdout.includes('000000 0000000')) return undefined;
  if (status !== 0 && status !== 1) throw new Error(stderr);
  const [tree = '', ...stages] = stdout.toString('latin1').split('\0').filter(Boolean);
  return { tree, isClean: status === 0, stages };
}

async function compare(objects: LinkReader, git: ScratchGit, ours: Oid, theirs: Oid): Promise<void> {
  const outcome = await merge(objects, ours, theirs);
  const expected = gitMerge(git, ours, theirs);
  if (expected !== undefined) assert.deepEqual(outcome, expected);
}

function pick({ commits, random }: GeneratedHistory): Oid {
  return commits[random(commits.length)]!;
}
