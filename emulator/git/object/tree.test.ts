import fc from 'fast-check';
import t from 'tap';
import { runSync } from '../../schedule/steps.js';
import { selectFiles } from '../pathspec/select-files.js';
import { MemoryObjects } from '../test/memory-objects.js';
import { oid } from '../test/oid.js';
import { walkTree } from '../test/walk-tree.js';
import { ScratchGit } from '../test/workbench.js';
import { bytesIn, bytesOf } from './bytes.js';
import { MalformedObject } from './malformed-object.js';
import { EMPTY_TREE_OID, MissingObject, type Oid } from './object.js';
import { findEntry, parseTree, readTree } from './read-tree.js';
import { canonicalMode, formatMode, writeTree } from './tree.js';

const BLOB = oid('e69de29bb2d1d6434b8b29ae775ad8c2e48c5391');
const bytes = (text: string) => bytesIn(Buffer.from(text, 'latin1'));

t.test('trees are written in the order and form of git mktree, and read back', (t) => {
  using git = new ScratchGit();
  const name = fc.stringMatching(/^[ab.\-0A\u00e9]{1,4}$/).filter((each) => each !== '.' && each !== '..');
  const mode = fc.constantFrom(0o100644, 0o100755, 0o120000, 0o160000, 0o40000);
  for (const list of fc.sample(fc.array(fc.tuple(name, mode), { maxLength: 12 }), { numRuns: 30, seed: 2 })) {
    const entries = [...new Map(list)].map(([each, m]) => ({
      name: bytesOf(each),
      mode: m,
      oid: BLOB,
    }));
    const types: Record<string, string> = { '40000': 'tree', '160000': 'commit' };
    const lines = entries.map(
      (e) => `${formatMode(e.mode)} ${types[e.mode.toString(8)] ?? 'blob'} ${e.oid}\t${e.name}\0`,
    );
    const tree = git.run(['mktree', '-z', '--missing'], Buffer.from(lines.join(''), 'latin1'));
    const body = git.try(['cat-file', 'tree', tree]).stdout;
    t.same(writeTree(entries), body, JSON.stringify(list));
    t.same(writeTree(runSync(parseTree(body))), body);
  }
  t.end();
});

t.test('a folder is sorted as if its name ended in a slash', (t) => {
  const entries = ['a0', 'a', 'a.b', 'a-b'].map((name) => ({
    name: bytes(name),
    mode: name === 'a' ? 0o40000 : 0o100644,
    oid: BLOB,
  }));
  for (const list of [entries, [...entries].reverse()]) {
    t.same(
      runSync(parseTree(writeTree(list))).map(({ name }) => name),
      ['a-b', 'a.b', 'a', 'a0'],
    );
  }
  t.end();
});

t.test('modes of older tools are read as Git reads them', (t) => {
  const cases = {
    100664: 0o100644,
    100600: 0o100644,
    100775: 0o100755,
    120777: 0o120000,
    40755: 0o40000,
    160755: 0o160000,
    0: 0o160000,
  };
  for (const [mode, canonical] of Object.entries(cases)) {
    t.equal(canonicalMode(Number.parseInt(mode, 8)), canonical, mode);
  }
  t.equal(
    runSync(parseTree(Buffer.concat([Buffer.from('040000 a\0'), Buffer.alloc(20)])))[0]?.mode,
    0o40000,
    'a padded mode',
  );
  t.equal(formatMode(0o40000), '040000');
  t.end();
});

t.test('a malformed tree is refused', (t) => {
  for (const text of [
    '1',
    '100644',
    '100644 ',
    '100644 a',
    '100644 a\0short',
    `100644 \0${'x'.repeat(20)}`,
    ` a\0${'x'.repeat(20)}`,
    `9 a\0${'x'.repeat(20)}`,
  ]) {
    t.throws(() => runSync(parseTree(Buffer.from(text))), MalformedObject, JSON.stringify(text));
  }
  t.same(runSync(parseTree(Buffer.alloc(0))), []);
  t.end();
});

t.test('a path is resolved to its entry, or to undefined', (t) => {
  const objects = new MemoryObjects();
  const blob = objects.add('blob', 'x');
  const tree = objects.tree({ a: { b: { c: 'x' } }, 'a.b': 'x', link: [0o120000, blob], sub: [0o160000, BLOB] });
  t.same(runSync(findEntry(objects, tree, bytes('a/b/c'))), { path: 'a/b/c', mode: 0o100644, oid: blob });
  t.same(runSync(findEntry(objects, tree, bytes(''))), { path: '', mode: 0o40000, oid: tree });
  t.equal(runSync(findEntry(objects, tree, bytes('sub')))?.mode, 0o160000);
  for (const path of ['b', 'a/', '/a', 'a//b', 'a/b/c/d', 'link/x', 'sub/x', 'A', 'a/b/', 'a\0']) {
    t.equal(runSync(findEntry(objects, tree, bytes(path))), undefined, JSON.stringify(path));
  }
  t.throws(() => runSync(findEntry(objects, blob, bytes('a'))), MissingObject, 'not a tree');
  t.throws(() => runSync(findEntry(objects, BLOB, bytes('a'))), MissingObject, 'not there');
  t.same(runSync(readTree(objects, EMPTY_TREE_OID)), [], 'the empty tree needs no object');
  t.end();
});

t.test('a walk reports what git ls-tree reports, in its order', (t) => {
  using git = new ScratchGit();
  const objects = new MemoryObjects();
  const tree = objects.tree({
    a: { b: 'x', 'b.c': 'y', d: {} },
    'a.b': 'x',
    'a-b': { x: 'y' },
    s: [0o160000, BLOB],
    '\u00c3\u00a9': 'z',
  });
  git.copy(objects);
  const show = (path: string, mode: number, oid: Oid) => `${formatMode(mode)} ${oid} ${path}`;
  for (const [options, flags] of [
    [{}, []],
    [{ trees: true }, ['-t']],
  ] as const) {
    const expected = git
      .run([
        '-c',
        'core.quotePath=false',
        'ls-tree',
        '-r',
        '-z',
        '--format=%(objectmode) %(objectname) %(path)',
        ...flags,
        tree,
      ])
      .split('\0')
      .slice(0, -1);
    t.same(
      [...walkTree(objects, tree, options)].map(({ path, mode, oid }) => show(path, mode, oid)),
      expected,
    );
  }
  t.same(
    [...walkTree(objects, runSync(findEntry(objects, tree, bytes('a')))!.oid, { under: bytes('a') })].map(
      ({ path }) => path,
    ),
    ['a/b', 'a/b.c'],
  );
  t.same(
    [...walkTree(objects, tree, { selects: runSync(selectFiles({ excludeGlobs: [bytes('a')] })) })].map(
      ({ path }) => path,
    ),
    ['a-b/x', 'a.b', 's', '\u00c3\u00a9'],
  );
  t.end();
});

t.test('a tree that is 20,000 folders deep can be walked', (t) => {
  const objects = new MemoryObjects();
  let tree = objects.tree({ f: 'x' });
  for (let depth = 0; depth < 20_000; depth++) tree = objects.tree({ d: [0o40000, tree] });
  const [only] = [...walkTree(objects, tree)];
  t.equal(only?.path.length, 40_001);
  t.equal(runSync(findEntry(objects, tree, only!.path))?.oid, only?.oid);
  t.end();
});
