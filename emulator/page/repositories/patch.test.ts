import t from 'tap';
import { readPatch } from './patch.js';

t.test('lines have the line numbers of both sides', async (t) => {
  const patch = 'diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -3,3 +3,4 @@ here\n one\n-two\n+2\n+2.5\n three\n';
  t.same(readPatch(patch), [
    { kind: 'heading', text: '@@ -3,3 +3,4 @@ here' },
    { kind: 'same', text: 'one', before: 3, after: 3 },
    { kind: 'removed', text: 'two', before: 4 },
    { kind: 'added', text: '2', after: 4 },
    { kind: 'added', text: '2.5', after: 5 },
    { kind: 'same', text: 'three', before: 5, after: 6 },
  ]);
});

t.test('a content line that looks like a header is read as content', async (t) => {
  const patch = '@@ -1 +1,2 @@\n--- a/a\n+@@ -1 +1 @@\n+++ b/b\n\\ No newline at end of file\n@@ -9,0 +11 @@\n+x';
  t.same(
    readPatch(patch).map(({ kind, text }) => `${kind} ${text}`),
    [
      'heading @@ -1 +1,2 @@',
      'removed -- a/a',
      'added @@ -1 +1 @@',
      'added ++ b/b',
      'remark No newline at end of file',
      'heading @@ -9,0 +11 @@',
      'added x',
    ],
  );
});

t.test(
  'a carriage return and other separators do not end a line; a binary file and a changed mode have none',
  async (t) => {
    t.same(
      readPatch('@@ -0,0 +1 @@\n+a\rb\u2028c\n').map(({ text }) => text),
      ['@@ -0,0 +1 @@', 'a\rb\u2028c'],
    );
    t.same(readPatch('diff --git a/x b/x\nBinary files a/x and b/x differ\n'), []);
    t.same(readPatch(''), []);
  },
);
