import t from 'tap';
import { RandomText } from '../diff/test/random-text.js';
import { MemoryObjects } from '../test/memory-objects.js';
import { ScratchGit } from '../test/workbench.js';
import { applied } from './test/applied.js';
import { gitApply } from './test/git-apply.js';
import { mangled, randomChange, randomPatch } from './test/random-patch.js';

// Compares this project's patch code with `git apply`. Real Git writes the patches, and the test then rewrites or
// breaks some. Both programs must refuse the same patches and produce the same trees.

const CHANGES = Number(process.env.PATCH_CHANGES ?? 16);
const SEED = Number(process.env.PATCH_SEED ?? 1);
const MANGLED = 8;

/** Files to which this test applies patches, path to content. */
const CONTENT = { n: '1\n2\n3\n', crlf: 'a\r\nb\r\nc\r\n', 'sp ace': 'x\n', empty: '', bin: '\0one', cut: 'x\na\nb\n' };

/** Object ids of two blobs: the content of the file `bin`, and the empty content. */
const BLOB_OID = 'eb2e937a24737d7e5ade6dc8e0bb3bdd4af15686';
const EMPTY_OID = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391';
const ZERO = '0'.repeat(40);
const EMPTY_BINARY = 'GIT binary patch\nliteral 0\nHcmV?d00001\n\n';

/** Patches with unusual line ends. Each has a name for messages. */
const CASES: readonly (readonly [name: string, patch: string])[] = [
  [
    'CR LF throughout',
    crlf('diff --git a/crlf b/crlf\nindex 1..2 100644\n--- a/crlf\n+++ b/crlf\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n'),
  ],
  ['CR LF for a file with LF', crlf('diff --git a/n b/n\n--- a/n\n+++ b/n\n@@ -1,3 +1,3 @@\n 1\n-2\n+B\n 3\n')],
  [
    'CR LF in the header only',
    `${crlf('diff --git a/n b/n\nindex 1..2 100644\n--- a/n\n+++ b/n\n@@ -1,3 +1,3 @@\n')} 1\n-2\n+B\n 3\n`,
  ],
  ['CR LF, traditional', crlf('--- a/crlf\n+++ b/crlf\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n')],
  [
    'CR LF, traditional, with tabs and dates',
    crlf('--- a/crlf\t2024-01-02 03:04:05\n+++ b/crlf\t2024-01-02 03:04:05\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n'),
  ],
  [
    'CR LF, traditional, with dates',
    crlf('--- a/crlf 2024-01-02 03:04:05\n+++ b/crlf 2024-01-02 03:04:05\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n'),
  ],
  [
    'CR LF, a new file',
    crlf(
      'diff --git a/y b/y\nnew file mode 100644\nindex 0000000..2\n--- /dev/null\n+++ b/y\n@@ -0,0 +1,2 @@\n+1\n+2\n',
    ),
  ],
  [
    'CR LF, a new file without a line feed',
    crlf(
      'diff --git a/y b/y\nnew file mode 100755\n--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+1\n\\ No newline at end of file\n',
    ),
  ],
  [
    'CR LF, a new link',
    crlf(
      'diff --git a/y b/y\nnew file mode 120000\n--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+to\n\\ No newline at end of file\n',
    ),
  ],
  [
    'CR LF, a new gitlink',
    crlf(
      `diff --git a/y b/y\nnew file mode 160000\n--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+Subproject commit ${'1'.repeat(40)}\n`,
    ),
  ],
  [
    'CR LF, a deleted file',
    crlf(
      'diff --git a/crlf b/crlf\ndeleted file mode 100644\n--- a/crlf\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-a\n-b\n-c\n',
    ),
  ],
  ['CR LF, a deleted file, traditional', crlf('--- a/crlf\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-a\n-b\n-c\n')],
  ['CR LF, a new empty file', crlf('diff --git a/y b/y\nnew file mode 100644\nindex 0000000..e69de29\n')],
  [
    'CR LF, a deleted empty file',
    crlf('diff --git a/empty b/empty\ndeleted file mode 100644\nindex e69de29..0000000\n'),
  ],
  ['CR LF, a mode', crlf('diff --git a/n b/n\nold mode 100644\nnew mode 100755\n')],
  ['CR LF, a rename', crlf('diff --git a/sp ace b/y z\nsimilarity index 100%\nrename from sp ace\nrename to y z\n')],
  ['CR LF, a rename in the old words', crlf('diff --git a/n b/y\nrename old n\nrename new y\n')],
  ['CR LF, a copy', crlf('diff --git a/n b/y\nsimilarity index 100%\ncopy from n\ncopy to y\n')],
  [
    'CR LF, a rename with quotes',
    crlf('diff --git a/n "b/\\303\\251"\nsimilarity index 100%\nrename from n\nrename to "\\303\\251"\n'),
  ],
  [
    'CR LF, a rename with a change',
    crlf(
      'diff --git a/crlf b/y\nsimilarity index 60%\nrename from crlf\nrename to y\nindex 1..2 100644\n--- a/crlf\n+++ b/y\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n',
    ),
  ],
  ['CR LF, binary', crlf(`diff --git a/bin b/bin\nindex ${BLOB_OID}..${EMPTY_OID} 100644\n${EMPTY_BINARY}`)],
  [
    'CR LF, binary, only in the header',
    `${crlf(`diff --git a/bin b/bin\nindex ${BLOB_OID}..${EMPTY_OID} 100644\n`)}${EMPTY_BINARY}`,
  ],
  [
    'CR LF, binary, without a mode',
    `${crlf(`diff --git a/bin b/bin\nindex ${BLOB_OID}..${EMPTY_OID}\n`)}${EMPTY_BINARY}`,
  ],
  [
    'CR LF, binary, on the line with the size',
    `diff --git a/bin b/bin\nindex ${BLOB_OID}..${EMPTY_OID} 100644\n${EMPTY_BINARY.replace('literal 0\n', 'literal 0\r\n')}`,
  ],
  [
    'CR LF, binary, a new file',
    crlf(`diff --git a/y b/y\nnew file mode 100644\nindex ${ZERO}..${EMPTY_OID}\n${EMPTY_BINARY}`),
  ],
  [
    'CR LF, binary files that differ',
    crlf('diff --git a/bin b/bin\nindex 1..2 100644\nBinary files a/bin and b/bin differ\n'),
  ],
  ['a form feed behind a name', '--- a/n\f\n+++ b/n\f\n@@ -1,3 +1,3 @@\n 1\n-2\n+B\n 3\n'],
  ['a carriage return in a name', '--- a/n\rx\n+++ b/n\rx\n@@ -1,3 +1,3 @@\n 1\n-2\n+B\n 3\n'],
  [
    'words behind /dev/null',
    'diff --git a/y b/y\nnew file mode 100644\n--- /dev/null (gone)\n+++ b/y\n@@ -0,0 +1 @@\n+1\n',
  ],
  ['a space behind a name', '--- a/n \n+++ b/n \n@@ -1,3 +1,3 @@\n 1\n-2\n+B\n 3\n'],
  ['a deleted file without folders', '--- n\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-1\n-2\n-3\n'],
  ['only the new name without folders', '--- a/n\n+++ n\n@@ -1,3 +1,3 @@\n 1\n-2\n+B\n 3\n'],
  [
    'a header that says nothing before another',
    'diff --git a/x b/x\ndiff --git a/n b/n\n--- a/n\n+++ b/n\n@@ -1,3 +1,3 @@\n 1\n-2\n+B\n 3\n',
  ],
  ['a header at the very end', '--- a/n\n+++ b/n\n@@ -1,3 +1,3 @@\n 1\n-2\n+B\n 3\ndiff --git a/x b/y\n'],
  [
    'a missing line feed in the middle of a file',
    '--- a/cut\n+++ b/cut\n@@ -1,2 +1,2 @@\n-x\n+y\n a\n\\ No newline at end of file\n',
  ],
  [
    'a broken binary file behind a good one',
    `--- a/n\n+++ b/n\n@@ -1,3 +1,3 @@\n 1\n-2\n+B\n 3\ndiff --git a/bin b/bin\nindex ${BLOB_OID}..${EMPTY_OID} 100644\n${EMPTY_BINARY.replace('HcmV', 'Hxxx')}`,
  ],
  [
    'a path with a line feed',
    'diff --git "a/l\\nf" "b/l\\nf"\nnew file mode 100644\n--- /dev/null\n+++ "b/l\\nf"\n@@ -0,0 +1 @@\n+1\n',
  ],
  [
    'a file where a folder must be',
    'diff --git a/n/x b/n/x\nnew file mode 100644\n--- /dev/null\n+++ b/n/x\n@@ -0,0 +1 @@\n+1\n',
  ],
  [
    'a gitlink to nowhere where a file comes to lie',
    'diff --git a/y b/y\nnew file mode 160000\n-- \n--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+1\n',
  ],
];

function crlf(text: string): string {
  return text.replaceAll('\n', '\r\n');
}

t.test('patches with any line ends are accepted or refused as by git apply', async (t) => {
  using git = new ScratchGit();
  const objects = new MemoryObjects();
  const tree = objects.tree(CONTENT);
  git.copy(objects);
  for (const [name, text] of CASES) {
    const patch = Buffer.from(text, 'latin1');
    const expected = gitApply(git, tree, patch);
    t.equal((await applied(copyOf(objects), tree, patch)).tree, expected.tree, `${name}: ${expected.message}`);
  }
});

function copyOf(objects: MemoryObjects): MemoryObjects {
  const copy = new MemoryObjects();
  for (let number = 0; number < objects.size; number++) copy.write(objects.typeOf(number), objects.read(number));
  return copy;
}

t.test('random patches are accepted or refused as by git apply, with the same tree', async (t) => {
  using making = new ScratchGit();
  const random = new RandomText(SEED);
  let taken = 0;
  for (let step = 0; step < CHANGES; step++) {
    const all = new MemoryObjects();
    const change = randomChange(random, all);
    making.copy(all);
    using applying = new ScratchGit();
    applying.copy(change.objects);
    for (let count = 0; count < MANGLED; count++) {
      const patch = Buffer.from(mangled(random, randomPatch(random, making, change)), 'latin1');
      // Skip a patch of white space only. It has no changes, and Git does not accept it as a patch.
      if (!/\S/.test(patch.toString('latin1'))) continue;
      const expected = gitApply(applying, change.before, patch);
      const found = await applied(copyOf(change.objects), change.before, patch);
      if (expected.tree !== undefined) taken++;
      if (expected.tree === found.tree) continue;
      t.equal(found.tree, expected.tree, `change ${step}, patch ${count}`, {
        patch: patch.toString('latin1'),
        git: expected.message,
        ours: found.message,
      });
    }
  }
  t.ok(taken > CHANGES, `${taken} patches were taken`);
});
