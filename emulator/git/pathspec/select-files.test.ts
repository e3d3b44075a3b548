import fc from 'fast-check';
import t from 'tap';
import { Meter, WorkLimitExceeded } from '../../schedule/meter.js';
import { Schedule, SLICE } from '../../schedule/schedule.js';
import { runSync } from '../../schedule/steps.js';
import { IS_COMPLETE, sample, sampleRuns } from '../../test/sample.js';
import { writeArchive } from '../archive/archive.js';
import { searchPage, textCache } from '../grep/test/search-page.js';
import { requestLimit } from '../limits/request-limits.js';
import { type ByteString, bytesOf, concatBytes, SLASH } from '../object/bytes.js';
import type { Oid } from '../object/object.js';
import { BacktrackingWildmatch } from '../test/backtracking-wildmatch.js';
import { choose } from '../test/choose.js';
import { type Content, MemoryObjects } from '../test/memory-objects.js';
import { walkTree } from '../test/walk-tree.js';
import { PathCursor, PathList } from './path-list.js';
import { type FileSelection, selectFiles } from './select-files.js';
import { TreeWalk } from './tree-walk.js';
import { foldCase } from './wildmatch.js';

/**
 * Returns true if a glob matches a path. This simple implementation of the rules in the comment of `parseGlob` is
 * compared with the fast one.
 */
function isGlobMatch(glob: ByteString, path: ByteString): boolean {
  const isAnchored = glob.slice(0, -1).includes('/');
  const pattern = isAnchored ? glob.replace(/^\//, '') : `**/${glob.replace(/^\//, '')}`;
  const lastName = pattern.slice(pattern.lastIndexOf('/') + 1);
  const patterns = lastName === '' ? [`${pattern}**`] : [pattern];
  if (lastName !== '' && !/[*?[\\]/.test(lastName)) patterns.push(`${pattern}/**`);
  return patterns.some((each) => new BacktrackingWildmatch(bytesOf(each), { pathname: true }).matches(path));
}

function isPathspecMatch(spec: ByteString, path: ByteString): boolean {
  const [, words, rest] = /^(?::\(([a-z,]*)\))?(.*)$/.exec(spec)!;
  const magic = new Set((words ?? '').split(','));
  const ignoreCase = magic.has('icase');
  const fold = (text: ByteString) => (ignoreCase ? foldCase(text) : text);
  const tidy = bytesOf(rest!.replace(/^\/+/, '').replace(/\/+/g, '/'));
  const prefix = tidy === '' || tidy.endsWith('/') ? tidy : concatBytes(tidy, SLASH);
  if (fold(path) === fold(tidy) || fold(path).startsWith(fold(prefix))) return true;
  if (magic.has('literal') || !/[*?[\\]/.test(tidy)) return false;
  return new BacktrackingWildmatch(tidy, { pathname: magic.has('glob'), ignoreCase }).matches(path);
}

function isChosen({ paths, includeGlobs, excludeGlobs, extensions }: FileSelection, path: ByteString): boolean {
  const included = paths?.filter((spec) => !spec.startsWith(':(exclude')) ?? [];
  const excluded = paths?.filter((spec) => spec.startsWith(':(exclude')) ?? [];
  const bare = (spec: ByteString) => bytesOf(spec.replace(/^:\(exclude/, ':('));
  return (
    (!extensions?.length || extensions.some((each) => path.endsWith(`.${each.replace(/^\./, '')}`))) &&
    (included.length === 0 || included.some((spec) => isPathspecMatch(spec, path))) &&
    !excluded.some((spec) => isPathspecMatch(bare(spec), path)) &&
    (!includeGlobs?.length || includeGlobs.some((glob) => isGlobMatch(glob, path))) &&
    !excludeGlobs?.some((glob) => isGlobMatch(glob, path))
  );
}

const name = fc.constantFrom('a', 'b', 'A', 'ab', 'a.b', 'B.a', '.a', 'aab', 'b*', '[a]', 'a\\b');
const piece = fc.constantFrom(
  ...['a', 'b', 'A', 'ab', '.', '*', '**', '?', '/', '/', '**/', '/**', '*.b', '[ab]', '[!a]', '[A-B]', '\\a', '\\*'],
  ...['[[:upper:]]', '/**/*', '*a*', '?**', '[', '\\'],
);
const pattern = fc
  .array(piece, { minLength: 1, maxLength: 7 })
  .map((pieces) => pieces.join(''))
  .filter((each) => each !== '/' && !/(?:^|\/)\.\.?(?:\/|$)/.test(each))
  .map(bytesOf);
const magic = fc.constantFrom(
  ...['', '', ':(glob)', ':(icase)', ':(literal)', ':(glob,icase)', ':(exclude)', ':(exclude,glob)', ':(top)'],
);
const selection = fc.record(
  {
    paths: fc.array(
      fc.tuple(magic, pattern).map(([words, spec]) => concatBytes(bytesOf(words), spec)),
      { maxLength: 4 },
    ),
    includeGlobs: fc.array(pattern, { maxLength: 4 }),
    excludeGlobs: fc.array(pattern, { maxLength: 3 }),
    extensions: fc.array(fc.constantFrom(...['b', '.b', 'a', '.a.b', ''].map(bytesOf)), { maxLength: 2 }),
  },
  { requiredKeys: [] },
);
const { tree } = fc.letrec<{ tree: Content }>((tie) => ({
  tree: fc.dictionary(name, fc.oneof({ depthSize: 'small', maxDepth: 5 }, fc.constant('x'), tie('tree')), {
    minKeys: 1,
    maxKeys: 5,
    noNullPrototype: true,
  }) as fc.Arbitrary<Content>,
}));

t.test('lists choose what their rules say, of a path, in a walk and in a list', (t) => {
  let chosen = 0;
  let refused = 0;
  const check = (content: Content, selection: FileSelection): void => {
    const objects = new MemoryObjects();
    const root = objects.tree(content);
    const all = [...walkTree(objects, root)].map(({ path }) => path);
    const expected = all.filter((path) => isChosen(selection, path));
    const what = JSON.stringify(selection);
    if (expected.length > 0 && expected.length < all.length) chosen++;
    else refused++;
    const equal = (found: readonly ByteString[], how: string): void => {
      if (JSON.stringify(found) !== JSON.stringify(expected)) t.same(found, expected, `${how}: ${what}`);
    };
    equal(choose(selection, all), 'of a path');
    const selects = runSync(selectFiles(selection));
    equal(
      [...walkTree(objects, root, { selects })].map(({ path }) => path),
      'in a walk',
    );
    const list = new PathList();
    const walk = new TreeWalk(objects, root);
    while (walk.step()) if (walk.isFound) list.add(walk);
    const cursor = new PathCursor(list, runSync(selectFiles(selection)));
    equal(
      all.filter((_, index) => cursor.tryMoveTo(index) ?? runSync(cursor.moveTo(index))),
      'in a list',
    );
    const back = new PathCursor(list, runSync(selectFiles(selection)));
    const reversed = all.filter((_, at) => runSync(back.moveTo(all.length - 1 - at))).length;
    if (reversed !== expected.length) t.equal(reversed, expected.length, `backwards: ${what}`);
  };
  const runs = sampleRuns(t, { numRuns: 1500, seed: 7 }, 400);
  fc.assert(fc.property(tree, selection, check), runs);
  const min = runs.numRuns / (IS_COMPLETE ? 10 : 20);
  t.ok(chosen > min && refused > min, `${chosen} lists chose some of the paths`);
  t.end();
});

const [max, longest, together] = [requestLimit('globs'), requestLimit('globBytes'), requestLimit('globsBytes')];

const ONE = { maxMatches: 1, maxMatchesPerFile: 1, maxLines: 1 };

/**
 * Selections with which matching takes as long as possible. Their pattern lists have the maximum size, and the patterns
 * keep as many tokens active as possible.
 */
const HOSTILE: Record<string, FileSelection> = {
  'many folders': filled((bytes) => `${'**/*a*/'.repeat(bytes / 7)}b`),
  'many stars': filled((bytes) => `${'*a'.repeat(bytes / 2 - 1)}*b`),
  'many sets': filled((bytes) => `**/${'[!b]*'.repeat(bytes / 5 - 1)}b`),
  'short and many': filled(() => '**/*a*/**/b', 25),
  'few and long': {
    includeGlobs: new Array<ByteString>(together / longest).fill(bytesOf(`${'*?'.repeat(longest / 2 - 1)}b`)),
  },
};

function filled(make: (bytes: number) => string, count = 8): FileSelection {
  const list = new Array<ByteString>(Math.min(count, max)).fill(bytesOf(make(Math.floor(together / count / 4))));
  return { paths: list, includeGlobs: list, excludeGlobs: list, extensions: list.map(() => bytesOf('aa')) };
}

const TREES: Record<string, (objects: MemoryObjects) => Oid> = {
  'one path of 2,040 folders': (objects) => nested(objects, 2040, 'a', objects.tree({ aa: 'x' })),
  'a wide folder of long names': (objects) =>
    objects.tree(
      Object.fromEntries(
        Array.from({ length: 500 }, (_, file) => [`${file}${'a'.repeat(250 - `${file}`.length)}`, 'x']),
      ),
    ),
  'a name of 100,000 bytes': (objects) => objects.tree({ ['a'.repeat(100_000)]: { ['a'.repeat(100_000)]: 'x' } }),
};

function nested(objects: MemoryObjects, depth: number, name: string, leaf: Oid): Oid {
  let tree = leaf;
  for (let level = 0; level < depth; level++) tree = objects.tree({ [name]: [0o40000, tree] });
  return tree;
}

for (const [which, make] of Object.entries(TREES)) {
  t.test(`hostile lists on ${which}: counted, in slices, to the limit`, async (t) => {
    const objects = new MemoryObjects();
    const tree = make(objects);
    const who = 'A <a@example.com> 1700000000 +0000';
    const commit = objects.add('commit', `tree ${tree}\nauthor ${who}\ncommitter ${who}\n\n`);
    const bytes = [...walkTree(objects, tree)].reduce(
      (sum, { path }) => sum + path.split('/').at(-1)!.length,
      2 * 2040,
    );
    for (const [what, selection] of sample(t, Object.entries(HOSTILE), 2)) {
      const schedule = new Schedule({ now: () => 0 });
      const meter = new Meter({ schedule });
      await searchPage(
        textCache(objects),
        tree,
        { pattern: 'y', selects: runSync(selectFiles(selection)) },
        ONE,
        meter,
      );
      const searched = schedule.spent;
      const selects = runSync(selectFiles(selection));
      for await (const _ of writeArchive(objects, { commit, meter, selects, level: 0 }));
      t.ok(schedule.longestSlice <= SLICE + 1000, `${what}: ${schedule.longestSlice} units in a slice`);
      t.ok(schedule.spent < 40_000 + bytes * 60, `${what}: ${schedule.spent} units for ${bytes} bytes`);
      if (searched < 20_000) continue;
      const limited = () => new Meter({ schedule: new Schedule({ now: () => 0 }), limit: 10 });
      await t.rejects(
        searchPage(
          textCache(objects),
          tree,
          { pattern: 'y', selects: runSync(selectFiles(selection)) },
          ONE,
          limited(),
        ),
        WorkLimitExceeded,
      );
    }
  });
}

t.test('full lists of patterns are compiled in small steps', async (t) => {
  const lists = ['[a-z]', '**/a/*', '?', 'a'].map((unit) => bytesOf(unit.repeat(Math.floor(320 / unit.length))));
  const globs = Array.from({ length: 50 }, (_, at) => lists[at % lists.length]!);
  const steps = selectFiles({ includeGlobs: globs, paths: globs, extensions: [bytesOf('.ts')] });
  const units: number[] = [];
  let step = steps.next();
  for (; !step.done; step = steps.next()) units.push(step.value);
  t.ok(step.value !== undefined);
  t.ok(Math.max(...units) <= 250, `${Math.max(...units)} units in one step`);
  t.ok(units.reduce((sum, each) => sum + each) >= 8_000, 'a byte of a pattern and a token count');
});
