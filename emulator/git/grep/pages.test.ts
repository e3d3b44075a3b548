import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { unlimited } from '../../schedule/test/unlimited.js';
import { bytesOf, textOf } from '../object/bytes.js';
import type { Oid } from '../object/object.js';
import { MemoryObjects } from '../test/memory-objects.js';
import { ScratchGit } from '../test/workbench.js';
import type { SearchLimits, SearchPage, SearchPosition } from './search.js';
import { gitGrep, PATTERNS, SAMPLE, UNLIMITED } from './test/as-git-grep.js';
import { type SearchQuery, searchPage, textCache } from './test/search-page.js';

/**
 * Searches page by page and returns all pages. Each search continues at the position that the previous page returned.
 */
async function pagesOf(
  objects: MemoryObjects,
  tree: Oid,
  query: SearchQuery,
  limits: SearchLimits,
): Promise<SearchPage[]> {
  const cache = textCache(objects);
  const pages: SearchPage[] = [];
  let startAfter: SearchPosition | undefined;
  do {
    // Convert the position to JSON and back. A client's cursor contains it as JSON, so it must survive this.
    if (startAfter) startAfter = JSON.parse(JSON.stringify(startAfter)) as SearchPosition;
    const page = await searchPage(cache, tree, { ...query, startAfter }, limits, unlimited());
    pages.push(page);
    startAfter = page.next;
  } while (startAfter !== undefined);
  return pages;
}

/**
 * Formats the found lines like `git grep -n`. The line number has `:` around it for a match and `-` for a context line.
 */
function printed(pages: readonly SearchPage[]): string[] {
  return pages.flatMap((page) =>
    page.files.flatMap(({ path, lines }) =>
      lines.map(({ number, text, type }) => {
        const mark = type === 'match' ? ':' : '-';
        return `${textOf(path)}${mark}${number}${mark}${text}`;
      }),
    ),
  );
}

function assertWithin(
  page: SearchPage,
  { maxMatches, maxMatchesPerFile, maxLines, maxCharacters }: SearchLimits,
): void {
  const lines = page.files.flatMap((file) => file.lines);
  const matches = (found: typeof lines) => found.filter((line) => line.type === 'match').length;
  assert.ok(lines.length <= maxLines && matches(lines) <= maxMatches);
  assert.ok(page.files.every((file) => matches(file.lines as typeof lines) <= maxMatchesPerFile));
  const characters = lines.reduce((sum, line) => sum + line.text.length, 0);
  assert.ok(lines.length <= 1 || characters <= maxCharacters!);
  assert.ok(lines.length > 0, 'a page goes on');
}

const bound = (max: number) => fc.integer({ min: 1, max });
const limits = fc.record({
  maxMatches: bound(12),
  maxMatchesPerFile: bound(12),
  maxLines: bound(12),
  maxCharacters: bound(300),
});
const around = fc.record({ before: fc.nat(4), after: fc.nat(4) });

t.test('all pages together equal the output of git grep, for any limits', async () => {
  using git = new ScratchGit();
  const objects = new MemoryObjects();
  const tree = objects.tree(SAMPLE);
  git.copy(objects);
  const whole = new Map<string, string[]>();
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('o', 'foo', 'bar$', '.', 'x*'),
      around,
      limits,
      async (pattern, around, limits) => {
        const query = { pattern, caseSensitive: true, ...around };
        const key = JSON.stringify(query);
        const expected =
          whole.get(key) ??
          gitGrep(git, tree, query)
            .split('\n')
            .filter((line) => line !== '--');
        whole.set(key, expected);
        const pages = await pagesOf(objects, tree, query, limits);
        for (const page of pages) assertWithin(page, limits);
        assert.deepEqual(printed(pages), expected);
      },
    ),
    { numRuns: 150, seed: 3 },
  );
});

t.test('all pages together equal the output of git grep, for random texts', async () => {
  using git = new ScratchGit();
  const file = fc.array(fc.constantFrom('foo', 'bar', '', 'a b', 'x'), { minLength: 1, maxLength: 40 });
  const files = fc.dictionary(fc.stringMatching(/^[a-c]{1,2}$/), file, {
    minKeys: 1,
    maxKeys: 3,
    noNullPrototype: true,
  });
  await fc.assert(
    fc.asyncProperty(
      files,
      fc.constantFrom(...PATTERNS.slice(0, 12)),
      around,
      fc.array(limits, { minLength: 1, maxLength: 4 }),
      async (files, pattern, around, manyLimits) => {
        const objects = new MemoryObjects();
        const contents = Object.entries(files).map(([name, lines]) => [name, bytesOf(`${lines.join('\n')}\n`)]);
        const tree = objects.tree(Object.fromEntries(contents));
        git.copy(objects);
        const query = { pattern, caseSensitive: true, ...around };
        const response = gitGrep(git, tree, query);
        const expected = response === '' ? [] : response.split('\n').filter((line) => line !== '--');
        for (const limits of manyLimits) {
          const pages = await pagesOf(objects, tree, query, limits);
          if (expected.length > 0) for (const page of pages) assertWithin(page, limits);
          assert.deepEqual(printed(pages), expected);
        }
      },
    ),
    { numRuns: 40, seed: 5 },
  );
});

t.test('context before a match is on its page, context after it may be on the next page', async (t) => {
  const objects = new MemoryObjects();
  const tree = objects.tree({ f: '1\n2\nhit\n4\n5\n6\nhit\n8\n' });
  const numbers = async (limits: Partial<SearchLimits>) =>
    (await pagesOf(objects, tree, { pattern: 'hit', before: 1, after: 2 }, { ...UNLIMITED, ...limits })).map((page) =>
      page.files.flatMap((file) => file.lines.map((line) => line.number)),
    );
  t.same(await numbers({ maxMatches: 1 }), [
    [2, 3, 4, 5],
    [6, 7, 8],
  ]);
  t.same(await numbers({ maxLines: 3 }), [[2, 3, 4], [5, 6, 7], [8]]);
});

t.test('the cost of a page does not grow with the size of the context', async (t) => {
  const objects = new MemoryObjects();
  const tree = objects.tree({ f: `${'line\n'.repeat(50_000)}hit\n${'line\n'.repeat(50_000)}hit\n` });
  const query = { pattern: 'hit', before: 1e9, after: 1e9 };
  const at = async (startAfter?: SearchPosition) => {
    const limits = { ...UNLIMITED, maxLines: 5 };
    const page = await searchPage(textCache(objects), tree, { ...query, startAfter }, limits, unlimited());
    return { lines: page.files[0]!.lines.map((line) => line.number), next: page.next };
  };
  t.same(await at(), { lines: [1, 2, 3, 4, 5], next: { path: 'f', line: 5 } });
  t.same(await at({ path: bytesOf('f'), line: 49_998 }), {
    lines: [49_999, 50_000, 50_001, 50_002, 50_003],
    next: { path: 'f', line: 50_003, match: 50_001 },
  });
});

t.test('a page may end at any line of a file with thousands of lines', async (t) => {
  const objects = new MemoryObjects();
  for (const count of [4095, 4096, 4097, 8192]) {
    for (const end of ['', 'x', 'hit']) {
      const lines = Array.from({ length: count }, (_, line) => (line % 3 === 0 ? 'hit' : 'line'));
      const tree = objects.tree({ f: `${lines.join('\n')}\n${end}`, g: 'hit' });
      const query = { pattern: 'hit', before: 1, after: 1 };
      const whole = printed(await pagesOf(objects, tree, query, UNLIMITED));
      t.ok(whole.length > count - 2, `${count} lines`);
      for (const maxLines of [1365, 2000, 4096]) {
        t.same(printed(await pagesOf(objects, tree, query, { ...UNLIMITED, maxLines })), whole);
      }
    }
  }
});
