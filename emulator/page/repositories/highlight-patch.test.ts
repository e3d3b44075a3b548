import t from 'tap';
import { highlightPatch } from './highlight-patch.js';
import { type PatchLine, readPatch } from './patch.js';

const ofSame = (path: string) => ({ path, oldPath: path });

/** Returns each line of a patch as its text and the colour names of its parts. */
function shown(patch: string, names = ofSame('a.ts')): string[] {
  const lines = readPatch(patch);
  const tokens = highlightPatch(lines, names);
  t.equal(tokens.length, lines.length);
  return lines.map(({ text }, at) => {
    if (tokens[at]) t.equal(tokens[at].map((token) => token.text).join(''), text, 'the text is complete');
    return `${text}: ${tokens[at]?.flatMap(({ kind }) => kind ?? []).join(' ') ?? 'no colours'}`;
  });
}

t.test('both sides of a hunk are highlighted as blocks', async (t) => {
  t.same(shown('@@ -1,4 +1,4 @@\n /* one\n-two\n+2 */\n-*/\n+const a = 1;\n return;\n'), [
    '@@ -1,4 +1,4 @@: no colours',
    '/* one: comment',
    'two: comment',
    '2 */: comment',
    '*/: comment',
    'const a = 1;: keyword number',
    'return;: keyword',
  ]);
});

t.test('a comment ends with its hunk, and remarks have no colours', async (t) => {
  t.same(shown('@@ -1 +1 @@\n-/* one\n\\ No newline at end of file\n+/* 1\n@@ -9,0 +9 @@\n+const a = 1;\n'), [
    '@@ -1 +1 @@: no colours',
    '/* one: comment',
    'No newline at end of file: no colours',
    '/* 1: comment',
    '@@ -9,0 +9 @@: no colours',
    'const a = 1;: keyword number',
  ]);
});

t.test('each side has the language of its own name', async (t) => {
  const patch = '@@ -1,2 +1,2 @@\n-const a = 1;\n+const b = 1;\n let c;\n';
  t.same(shown(patch, { oldPath: 'README', path: 'a.ts' }).slice(1), [
    'const a = 1;: no colours',
    'const b = 1;: keyword number',
    'let c;: keyword',
  ]);
  t.same(shown(patch, { oldPath: 'a.ts', path: 'README' }).slice(1), [
    'const a = 1;: keyword number',
    'const b = 1;: no colours',
    'let c;: keyword',
  ]);
});

t.test('large patches, long lines and unknown languages have no colours', async (t) => {
  const isPlain = (patch: string, path = 'a.ts') =>
    highlightPatch(readPatch(patch), ofSame(path)).every((tokens) => tokens === undefined);
  const added = (...lines: readonly string[]) =>
    `@@ -0,0 +1,${lines.length} @@\n${lines.map((line) => `+${line}\n`).join('')}`;
  t.notOk(isPlain(added('const a = 1;')));
  t.ok(isPlain(added('const a = 1;'), 'README'));
  t.ok(isPlain(added('const a = 1;', `// ${'x'.repeat(3_000)}`)));
  t.ok(isPlain(added(...new Array<string>(20_000).fill('const a = 1;'))));
  t.same(highlightPatch([], ofSame('a.ts')), []);
  const outside: readonly PatchLine[] = [{ kind: 'remark', text: 'outside of a hunk' }];
  t.same(highlightPatch(outside, ofSame('a.ts')), [undefined]);
});
