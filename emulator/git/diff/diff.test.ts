import t from 'tap';
import { Meter, WorkLimitExceeded } from '../../schedule/meter.js';
import { Schedule } from '../../schedule/schedule.js';
import { unlimited } from '../../schedule/test/unlimited.js';
import { bytesOf } from '../object/bytes.js';
import { EMPTY_TREE_OID, type Oid } from '../object/object.js';
import { MemoryObjects } from '../test/memory-objects.js';
import { ScratchGit } from '../test/workbench.js';
import { type Diff, diffTrees } from './diff.js';
import { PathFilter } from './path-filter.js';
import { RandomText } from './test/random-text.js';
import { RandomTree } from './test/random-tree.js';
import { diffTreeEntries, TooManyChanges, type TreeChange } from './trees.js';

/** Returns true for a tree change. The comparison also yields numbers, which are costs in units of work. */
const isChange = (found: TreeChange | number): found is TreeChange => typeof found !== 'number';

function patchOf(diff: Diff): string {
  return Buffer.concat(diff.files.map((file) => file.raw())).toString('latin1');
}

/** Formats a diff like `git diff-tree --raw -z`, so that both can be compared. */
function rawOf(diff: Diff): string {
  const octal = (mode: number) => mode.toString(8).padStart(6, '0');
  return diff.files
    .map((file) => {
      const paths = file.oldPath === undefined ? file.path : `${file.oldPath}\0${file.path}`;
      return `:${octal(file.oldMode)} ${octal(file.newMode)} ${file.oldOid} ${file.newOid} ${file.state}\0${paths}\0`;
    })
    .join('');
}

function numstatOf(diff: Diff): string {
  return diff.files
    .map((file) => {
      const counts = file.isBinary ? '-\t-' : `${file.additions}\t${file.deletions}`;
      return `${counts}\t${file.oldPath === undefined ? file.path : `\0${file.oldPath}\0${file.path}`}\0`;
    })
    .join('');
}

/**
 * Writes a sequence of random trees to a Git repository and to the object store under test. Returns each tree together
 * with the next one.
 */
function randomTrees(git: ScratchGit, objects: MemoryObjects, seed: number, count: number): [Oid, Oid][] {
  const tree = new RandomTree(new RandomText(seed));
  const oids: Oid[] = [EMPTY_TREE_OID];
  for (let step = 0; step < count; step++) {
    oids.push(tree.write(objects));
    tree.change();
  }
  oids.push(EMPTY_TREE_OID);
  git.copy(objects);
  return oids.slice(1).map((oid, index) => [oids[index]!, oid]);
}

t.test('trees at random differ as git diff-tree says', async (t) => {
  using git = new ScratchGit();
  const objects = new MemoryObjects();
  for (const [before, after] of randomTrees(git, objects, 5, 30)) {
    const run = (...options: string[]) => {
      const { stdout } = git.try(['diff-tree', '-r', '-M', ...options, before, after]);
      return stdout.toString('latin1');
    };
    const diff = await diffTrees(objects, before, after, { meter: unlimited() });
    t.equal(rawOf(diff), run('--raw', '-z'), 'files and states');
    t.equal(patchOf(diff), run('-p', '--full-index'), 'patch');
    t.equal(numstatOf(diff), run('--numstat', '-z'), 'counts');
  }
});

t.test('the options of the patch are those of git diff-tree', async (t) => {
  using git = new ScratchGit();
  const objects = new MemoryObjects();
  const cases = [
    [['-b', '--full-index', '-M'], { ignoreSpaceChange: true }],
    [['-U0', '--full-index', '-M'], { context: 0 }],
    [['-U7', '--full-index', '-M'], { context: 7 }],
    [['-M', '--full-index', '--', 'lib', 'a', 'moved/zz'], { paths: ['lib/', 'a', 'moved/zz'].map(bytesOf) }],
  ] as const;
  const pairs = randomTrees(git, objects, 6, 9);
  for (const [options, ours] of cases) {
    for (const [before, after] of pairs) {
      const split = options.indexOf('--' as never);
      const flags = split < 0 ? options : options.slice(0, split);
      const paths = split < 0 ? [] : options.slice(split);
      const { stdout } = git.try(['diff-tree', '-r', '-p', ...flags, before, after, ...paths]);
      t.equal(
        patchOf(await diffTrees(objects, before, after, { meter: unlimited(), ...ours })),
        stdout.toString('latin1'),
        options.join(' '),
      );
    }
  }
});

t.test('headings are cut off where git cuts them off', async (t) => {
  using git = new ScratchGit();
  const objects = new MemoryObjects();
  const headings = [
    `f ${'\xc3\xb6'.repeat(60)}`,
    `ff ${'\xc3\xb6'.repeat(60)}`,
    `f ${'\xe2\x82\xac'.repeat(60)}`,
    `f ${'\xf0\x9f\x98\x80'.repeat(30)}`,
    'gr\xf6\xdfe',
    'space \xe9',
    'surrogate \xed\xa0\x80',
    'overlong \xc0\xaf \xe0\x80\xaf \xf0\x80\x80\xaf',
    'replacement \xef\xbf\xbd, none \xef\xbf\xbe',
    'none \xef\xbf\xbf',
    'beyond \xf4\x90\x80\x80',
    'cut \xe2\x82',
    'lone \x80',
    'tab\tand\r',
    `${'x'.repeat(79)} \xc3\xb6`,
  ];
  const tree = (end: string) =>
    objects.tree(Object.fromEntries(headings.map((line, at) => [`${at}`, `${line}\n 1\n 2\n 3\n 4\n${end}\n`])));
  const [before, after] = [tree(' old'), tree(' new')];
  git.copy(objects);
  const { stdout } = git.try(['diff-tree', '-r', '-p', '--full-index', before, after]);
  const expected = stdout.toString('latin1').match(/^@@.*/gm)!;
  const found = patchOf(await diffTrees(objects, before, after, { meter: unlimited() })).match(/^@@.*/gm)!;
  t.equal(expected.length, headings.length);
  t.same(found.sort(), expected.sort());
});

t.test('binary patches are taken by git apply', async (t) => {
  using git = new ScratchGit();
  const objects = new MemoryObjects();
  let count = 0;
  for (const [before, after] of randomTrees(git, objects, 5, 35)) {
    const patch = patchOf(await diffTrees(objects, before, after, { meter: unlimited(), binary: true }));
    if (!patch.includes('GIT binary patch')) continue;
    count++;
    using receiver = new ScratchGit();
    const source = new MemoryObjects();
    for (let number = 0; number < objects.size; number++) {
      const oid = objects.oidOf(number);
      const files = [...diffTreeEntries(objects, undefined, before)].filter(isChange).map(({ after }) => after!.oid);
      if (objects.typeOf(number) === 2 || files.includes(oid))
        source.write(objects.typeOf(number), objects.read(number));
    }
    receiver.copy(source);
    receiver.run(['read-tree', before]);
    receiver.run(['apply', '--cached', '--binary'], Buffer.from(patch, 'latin1'));
    t.equal(receiver.run(['write-tree', '--missing-ok']), after);
  }
  t.ok(count > 1, `${count} patches`);
});

t.test('many files move at once as git sees them', async (t) => {
  using git = new ScratchGit();
  const objects = new MemoryObjects();
  const random = new RandomText(11);
  for (let round = 0; round < 6; round++) {
    const before: Record<string, string> = {};
    const after: Record<string, string> = {};
    const contents = Array.from({ length: 6 }, () => random.lines().slice(0, 60));
    for (let index = 0; index < 40; index++) {
      const lines = random.pick(contents);
      const name = `${random.pick(['a', 'b', 'c', 'index'])}${random.pick(['', index])}`;
      before[`old-${random.below(8)}-${index} ${name}`] = random.file(
        random.below(3) === 0 ? lines : random.edit(lines),
      );
      after[`new-${random.below(8)}-${index} ${name}`] = random.file(
        random.below(3) === 0 ? lines : random.edit(lines),
      );
    }
    const nest = (files: Record<string, string>) => {
      const folders: Record<string, Record<string, string>> = {};
      for (const [key, content] of Object.entries(files)) {
        const [folder, name] = key.split(' ');
        folders[folder!] = { ...folders[folder!], [name!]: content };
      }
      return objects.tree(folders);
    };
    const [old, young] = [nest(before), nest(after)];
    git.copy(objects);
    const expected = git.try(['diff-tree', '-r', '-M', '--raw', '-z', old, young]).stdout.toString('latin1');
    t.equal(rawOf(await diffTrees(objects, old, young, { meter: unlimited() })), expected);
  }
});

t.test('a first tree is compared with nothing', async (t) => {
  const objects = new MemoryObjects();
  const tree = objects.tree({ a: 'one\ntwo\n' });
  const diff = await diffTrees(objects, undefined, tree, { meter: unlimited() });
  t.same(diff.stats, { files: 1, additions: 2, deletions: 0, changes: 2 });
  t.equal(diff.files[0]!.state, 'A');
  t.same((await diffTrees(objects, tree, tree, { meter: unlimited() })).stats, {
    files: 0,
    additions: 0,
    deletions: 0,
    changes: 0,
  });
});

t.test('a tree of folders ten thousand deep is compared', async (t) => {
  const objects = new MemoryObjects();
  let deep = objects.tree({ file: 'old\n' });
  let other = objects.tree({ file: 'new\n' });
  for (let depth = 0; depth < 10_000; depth++) {
    deep = objects.tree({ d: [0o040000, deep] });
    other = objects.tree({ d: [0o040000, other] });
  }
  const [change] = [...diffTreeEntries(objects, deep, other)].filter(isChange);
  t.equal(change?.after?.path.length, 2 * 10_000 + 'file'.length);
});

t.test('a few objects that make endless trees are given up on', async (t) => {
  const objects = new MemoryObjects();
  for (const content of [{ file: 'x' }, {}]) {
    let tree = objects.tree(content);
    for (let depth = 0; depth < 30; depth++) tree = objects.tree({ a: [0o040000, tree], b: [0o040000, tree] });
    t.throws(() => [...diffTreeEntries(objects, undefined, tree, { limit: 50_000 })], TooManyChanges);
  }
});

t.test('a path filter leads only into folders that hold something wanted', async (t) => {
  const filter = new PathFilter(['a/b/', 'c'].map(bytesOf));
  const covers = (path: string) => filter.covers(bytesOf(path));
  const leadsInto = (folder: string) => filter.leadsInto(bytesOf(folder));
  t.ok(covers('a/b') && covers('c'));
  t.notOk(covers('a') || covers('a/b/c') || covers('ab'));
  t.ok(leadsInto('a'));
  t.notOk(leadsInto('c') || leadsInto('x'));
});

t.test('an abort or a deadline ends the work', async (t) => {
  const objects = new MemoryObjects();
  const files = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`f${index}`, `${index}\n`]));
  const tree = objects.tree(files);
  const schedule = new Schedule();
  const spent = new Meter({ schedule, limit: 0.02 });
  await t.rejects(diffTrees(objects, undefined, tree, { meter: spent }), WorkLimitExceeded);
  const reason = new Error('gone');
  const gone = new Meter({ schedule, signal: AbortSignal.abort(reason) });
  await t.rejects(diffTrees(objects, undefined, tree, { meter: gone }), reason);
});
