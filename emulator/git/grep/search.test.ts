import assert from 'node:assert/strict';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import t from 'tap';
import { Meter, WorkLimitExceeded } from '../../schedule/meter.js';
import { Schedule } from '../../schedule/schedule.js';
import { runSync } from '../../schedule/steps.js';
import { unlimited } from '../../schedule/test/unlimited.js';
import { bytesOf, textOf } from '../object/bytes.js';
import type { Oid } from '../object/object.js';
import { type SelectionList, selectFiles } from '../pathspec/select-files.js';
import { MemoryObjects } from '../test/memory-objects.js';
import { oid } from '../test/oid.js';
import { ScratchGit } from '../test/workbench.js';
import { compilePattern, InvalidPattern, type LineMatcher } from './matcher.js';
import type { FileMatches, SearchLimits, SearchPosition } from './search.js';
import { needleOf, SearchText } from './search-text.js';
import { gitGrep, grep, PATTERNS, SAMPLE, UNLIMITED } from './test/as-git-grep.js';
import { type SearchQuery, searchPage, textCache } from './test/search-page.js';

t.test('lines, numbers and context are those of git grep', async (t) => {
  using git = new ScratchGit();
  const objects = new MemoryObjects();
  const tree = objects.tree(SAMPLE);
  git.copy(objects);
  for (const pattern of PATTERNS) {
    for (const [caseSensitive, before, after] of [
      [true, 0, 0],
      [false, 0, 0],
      [true, 1, 2],
      [true, 3, 0],
    ] as const) {
      const ours = await grep(objects, tree, { pattern, caseSensitive, before, after });
      const theirs = gitGrep(git, tree, { pattern, caseSensitive, before, after });
      t.equal(ours, theirs, `/${pattern}/${caseSensitive ? '' : 'i'} -B${before} -A${after}`);
    }
  }
});

t.test('random texts are searched as git grep searches them', async () => {
  using git = new ScratchGit();
  const file = fc.array(fc.stringMatching(/^(foo|bar|baz|[ab.=(\té ]){0,8}\r?$/), { maxLength: 30 });
  const files = fc.dictionary(fc.stringMatching(/^[a-c-]{1,4}$/), file, { maxKeys: 6, noNullPrototype: true });
  const query = fc.record({
    pattern: fc.constantFrom(...PATTERNS),
    caseSensitive: fc.boolean(),
    before: fc.nat(3),
    after: fc.nat(3),
  });
  await fc.assert(
    fc.asyncProperty(files, query, fc.boolean(), async (files, query, endsLines) => {
      const objects = new MemoryObjects();
      const lines = Object.entries(files).map(([name, lines]) => [
        name,
        bytesOf(lines.map((line) => `${line}\n`).join('')).slice(0, endsLines || lines.at(-1) === '' ? undefined : -1),
      ]);
      const tree = objects.tree(Object.fromEntries(lines));
      git.copy(objects);
      assert.equal(await grep(objects, tree, query), gitGrep(git, tree, query));
    }),
    { numRuns: 40, seed: 7 },
  );
});

t.test('every engine finds the lines RE2 finds one by one', async () => {
  const atom = fc.constantFrom(
    'a',
    'b',
    '.',
    '[ab]',
    '[^a]',
    '\\w',
    '\\s',
    '\\n',
    'é',
    '\\x{e9}',
    '[\\s\\S]',
    '\\b',
    '\\B',
    '^',
    '$',
    's',
    'K',
  );
  const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
    pattern: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      atom,
      fc.array(tie('pattern'), { maxLength: 4 }).map((parts) => parts.join('')),
      fc.tuple(tie('pattern'), tie('pattern')).map(([left, right]) => `(?:${left}|${right})`),
      fc
        .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '{2,}', '*?'))
        .map(([body, sign]) => `(${body})${sign}`),
    ),
  }));
  const line = fc.stringMatching(/^[abskSKé \u017f\u212a\u2028\u{1f600}\r_-]{0,6}$/u);
  await fc.assert(
    fc.asyncProperty(pattern, fc.array(line, { maxLength: 12 }), fc.boolean(), async (pattern, lines, ignoreCase) => {
      let expression: RE2JS;
      try {
        expression = RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
      } catch {
        await assert.rejects(compilePattern(pattern, ignoreCase, unlimited()), InvalidPattern);
        return;
      }
      const expected = [...lines.keys()].filter((at) => expression.test(lines[at]!));
      assert.deepEqual(matchingLines(await compilePattern(pattern, ignoreCase, unlimited()), lines), expected);
    }),
    { numRuns: 1500, seed: 11 },
  );
});

t.test('a page has a next position only if another match follows', async (t) => {
  const objects = new MemoryObjects();
  const tree = objects.tree({ a: 'x\nx\n', b: 'y\n', c: 'x\n' });
  const C = bytesOf('c');
  const page = (limits: Partial<SearchLimits>, startAfter?: SearchPosition) =>
    searchPage(textCache(objects), tree, { pattern: 'x', startAfter }, { ...UNLIMITED, ...limits }, unlimited());
  t.same((await page({ maxMatches: 2 })).next, { path: 'c', line: 0 });
  t.same((await page({ maxMatches: 3 })).next, undefined);
  t.same((await page({ maxMatchesPerFile: 1 })).next, { path: 'a', line: 1 });
  t.same((await page({}, { path: C, line: 0 })).files, [
    { path: 'c', lines: [{ number: 1, text: 'x', type: 'match' }] },
  ]);
  t.same((await page({}, { path: C, line: 99 })).files, []);
  t.same((await page({}, { path: bytesOf('zzz'), line: 0 })).files, []);
});

t.test('binary files, large files, links and submodules are not searched', async (t) => {
  const objects = new MemoryObjects();
  const tree = objects.tree({
    binary: 'hit\0\n',
    'late-nul': `${'hit\n'.repeat(2000)}\0`,
    large: `hit\n${'x'.repeat(10_000)}`,
    link: [0o120000, objects.add('blob', 'hit')],
    module: [0o160000, oid('c'.repeat(40))],
    run: [0o100755, objects.add('blob', 'hit\n')],
  });
  const cache = textCache(objects, 64 << 20, 9000);
  for (const _ of ['cold', 'warm']) {
    const { files } = await searchPage(cache, tree, { pattern: 'hit' }, UNLIMITED, unlimited());
    t.same(
      files.map((file) => file.path),
      ['late-nul', 'run'],
    );
  }
});

t.test('text is UTF-8: characters count, malformed bytes become U+FFFD, carriage returns stay', async (t) => {
  const objects = new MemoryObjects();
  const tree = objects.tree({ a: bytesOf('日本\r\n\u{1f600}\n'), b: 'caf\xe9\n', [bytesOf('ü')]: bytesOf('日本\n') });
  t.same(await collect(objects, tree, { pattern: '^..$' }), ['a:1:日本\r:match', 'ü:1:日本:match'].slice(1));
  t.same(await collect(objects, tree, { pattern: '^..\\s$' }), ['a:1:日本\r:match']);
  t.same(await collect(objects, tree, { pattern: '^.$' }), ['a:2:\u{1f600}:match']);
  t.same(await collect(objects, tree, { pattern: 'caf.' }), ['b:1:caf\ufffd:match']);
});

t.test('only selected files are searched: those that pass every filter', async (t) => {
  const objects = new MemoryObjects();
  const tree = objects.tree({ src: { 'a.ts': 'x', 'a.js': 'x', lib: { 'b.ts': 'x' } }, 'c.ts': 'x', ts: 'x' });
  const found = async (lists: Partial<Record<SelectionList, string[]>>) => {
    const selection = Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, list.map(bytesOf)]));
    const query = { pattern: 'x', selects: runSync(selectFiles(selection)) };
    return (await searchPage(textCache(objects), tree, query, UNLIMITED, unlimited())).files.map((file) => file.path);
  };
  t.same(await found({}), ['c.ts', 'src/a.js', 'src/a.ts', 'src/lib/b.ts', 'ts']);
  t.same(await found({ paths: ['src'] }), ['src/a.js', 'src/a.ts', 'src/lib/b.ts']);
  t.same(await found({ extensions: ['.ts', 'md'] }), ['c.ts', 'src/a.ts', 'src/lib/b.ts']);
  t.same(await found({ includeGlobs: ['**/*.ts'], excludeGlobs: ['src/*.ts'] }), ['c.ts', 'src/lib/b.ts']);
  t.same(await found({ paths: ['src'], extensions: ['.ts'], excludeGlobs: ['lib'] }), ['src/a.ts']);
});

t.test('syntax that RE2 does not support is an invalid pattern', async (t) => {
  const invalid = [
    '(',
    ')',
    '[',
    'a**',
    '(?=a)',
    '(?!a)',
    '(?<=a)b',
    '(?<!a)b',
    '(a)\\1',
    'a{2,1}',
    'a{1001}',
    '*',
    '\\',
    '[b-a]',
    '(?P<n',
    '\\8',
  ];
  for (const pattern of [...invalid, 'x'.repeat(1025), '(.{1000}){1000}', '.{1000}'.repeat(140)]) {
    await t.rejects(compilePattern(pattern, false, unlimited()), InvalidPattern, `/${pattern.slice(0, 20)}/`);
  }
});

t.test('flags, Unicode classes and quoted text are RE2’s', async (t) => {
  const objects = new MemoryObjects();
  const tree = objects.tree({ f: bytesOf('Foo\nfoo\nÉ\na.b\nAxb\n') });
  const numbers = async (pattern: string) =>
    (await collect(objects, tree, { pattern })).map((line) => Number(line.split(':')[1]));
  t.same(await numbers('(?i)foo'), [1, 2]);
  t.same(await numbers('\\p{Lu}'), [1, 3, 5]);
  t.same(await numbers('\\Qa.b\\E'), [4]);
  t.same(await numbers('\\Afoo\\z'), [2]);
  t.same(await numbers('(?s)foo.*b'), [], 'a match never spans lines');
  t.same(await numbers('foo\\n'), []);
  t.same(await numbers('[^x]{4}'), []);
});

t.test('hostile expressions take linear time, yield to other requests and end at the deadline', async (t) => {
  const objects = new MemoryObjects();
  const tree = objects.tree({
    lines: `${`${'a'.repeat(200)}\n`.repeat(300)}`,
    line: `${'a'.repeat(100_000)}b`,
    words: 'a '.repeat(20_000),
  });
  for (const pattern of [
    '(a+)+$x',
    '(a|aa)+$x',
    '(a*)*(a*)*c',
    'a.*a.*a.*c',
    'a*a*a*a*c',
    '(.*)(.*)(.*)[^ab ]',
    '(?i)(a|a)*d',
  ]) {
    t.same(await collect(objects, tree, { pattern }), [], pattern);
  }
  let now = 0;
  const schedule = new Schedule({ now: () => now++ });
  const query = { pattern: '.*a.{400}$' };
  let others = 0;
  let isDone = false;
  const other = (): void => {
    others++;
    if (!isDone) setImmediate(other);
  };
  setImmediate(other);
  await t.rejects(
    searchPage(textCache(objects), tree, query, { ...UNLIMITED, maxMatches: 1e9 }, new Meter({ schedule, limit: 0.6 })),
    new WorkLimitExceeded(),
  );
  const signal = AbortSignal.abort(new Error('gone'));
  await t.rejects(searchPage(textCache(objects), tree, query, UNLIMITED, new Meter({ schedule, signal })), {
    message: 'gone',
  });
  isDone = true;
  t.ok(others > 0, 'other work ran in between');
});

t.test('a page that is full at the deadline is returned', async (t) => {
  const objects = new MemoryObjects();
  const tree = objects.tree({ a: 'x\n', b: 'y\n'.repeat(100_000) });
  const page = await searchPage(
    textCache(objects),
    tree,
    { pattern: 'x|zz+' },
    { ...UNLIMITED, maxMatches: 1 },
    new Meter({ schedule: new Schedule(), limit: 0.4 }),
  );
  t.same(page, {
    files: [{ path: 'a', lines: [{ number: 1, text: 'x', type: 'match' }] }],
    next: { path: 'a', line: 1 },
  });
});

t.test('the size of the cache does not change the result', async (t) => {
  const objects = new MemoryObjects();
  const tree = objects.tree(SAMPLE);
  const expected = await collect(objects, tree, { pattern: 'o' });
  for (const bytes of [0, 300, 700, 1 << 20]) {
    let reads = 0;
    const read = objects.read.bind(objects);
    const counting = Object.assign(new MemoryObjects(), objects, {
      find: objects.find.bind(objects),
      typeOf: objects.typeOf.bind(objects),
      sizeOf: objects.sizeOf.bind(objects),
      read: (number: number) => {
        reads++;
        return read(number);
      },
    });
    const cache = textCache(counting, bytes);
    for (const _ of ['cold', 'warm']) {
      const { files } = await searchPage(cache, tree, { pattern: 'o' }, UNLIMITED, unlimited());
      t.same(flatten(files), expected);
    }
    const cold = reads;
    await searchPage(cache, tree, { pattern: 'q' }, UNLIMITED, unlimited());
    if (bytes === 1 << 20) t.equal(reads, cold, 'with room, nothing is read again');
  }
});

async function collect(objects: MemoryObjects, tree: Oid, query: SearchQuery): Promise<string[]> {
  const { files } = await searchPage(textCache(objects), tree, query, UNLIMITED, unlimited());
  return flatten(files);
}

function flatten(files: readonly FileMatches[]): string[] {
  return files.flatMap(({ path, lines }) =>
    lines.map((line) => `${textOf(path)}:${line.number}:${line.text}:${line.type}`),
  );
}

function matchingLines(matcher: LineMatcher, lines: readonly string[]): number[] {
  const piece = lines.map((line) => `${line}\n`).join('');
  const found: number[] = [];
  let start = 0;
  for (const [number, line] of lines.entries()) {
    const end = start + line.length;
    // The line matches if the next match from its start begins inside it.
    const at = runSync(matcher.find(piece, start));
    if (at >= start && at <= end) found.push(number);
    start = end + 1;
  }
  return found;
}

t.test('a needle is found in every text that contains it', async () => {
  const piece = fc.constantFrom(
    'request',
    'Handler',
    'é',
    'ſtr',
    '\u212aey',
    ' ',
    '\n',
    '\ufffd',
    '😀',
    'aB',
    'x'.repeat(9),
  );
  const body = fc.oneof(
    fc.array(piece, { maxLength: 20 }).map((pieces) => Buffer.from(pieces.join(''), 'utf8')),
    fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
  );
  const cut = fc.tuple(fc.nat(), fc.integer({ min: 1, max: 30 }));
  await fc.assert(
    fc.property(body, cut, (bytes, [at, length]) => {
      const text = bytes.toString('utf8');
      const found = text.slice(at % (text.length + 1)).slice(0, length);
      const needle = needleOf(found);
      if (needle === undefined) return;
      assert.ok(runSync(new SearchText(bytes).mayHold(needle)), JSON.stringify(found));
    }),
    { numRuns: 3000, seed: 11 },
  );
});

t.test('earlier searches do not change the result, which equals that of git grep', async (t) => {
  using git = new ScratchGit();
  const objects = new MemoryObjects();
  const files = Array.from({ length: 40 }, (_, at) => [
    `f${at}`,
    `const value${at} = makeParallel${at}Requests;\n`.repeat(9),
  ]);
  const kelvin = bytesOf('maKeParallel7Requests: ma\u212aeParallel7Requests\n');
  const tree = objects.tree({ ...Object.fromEntries(files), kelvin });
  git.copy(objects);
  const cache = textCache(objects);
  const found = async (query: SearchQuery) =>
    flatten((await searchPage(cache, tree, query, UNLIMITED, unlimited())).files);
  for (const _ of ['first', 'second', 'third']) {
    for (const [pattern, caseSensitive] of [
      ['nowhere at all', true],
      ['makeParallel7Requests', true],
      ['makeparallel7requests', false],
      ['[a-z]+Parallel7Requests;$', true],
      ['value', true],
      ['l8Requests', true],
      ['PARALLEL8requests', false],
      ['const (value|other)39 = makeParallel39', true],
    ] as const) {
      const theirs = gitGrep(git, tree, { pattern, caseSensitive, before: 0, after: 0 });
      const ours = (await found({ pattern, caseSensitive })).map((line) => line.replace(/:match$/, ''));
      t.equal(ours.join('\n'), theirs, pattern);
    }
  }
  const before = new Schedule();
  await searchPage(cache, tree, { pattern: 'makeParallel' }, UNLIMITED, new Meter({ schedule: before }));
  const schedule = new Schedule();
  await searchPage(cache, tree, { pattern: 'nowhere at all' }, UNLIMITED, new Meter({ schedule }));
  t.ok(schedule.spent < before.spent / 4, `${schedule.spent} units where nothing is found, of ${before.spent}`);
});
