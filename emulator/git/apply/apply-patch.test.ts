import t, { type Test } from 'tap';
import { unlimited } from '../../schedule/test/unlimited.js';
import { diffTrees } from '../diff/diff.js';
import { RandomText } from '../diff/test/random-text.js';
import { RandomTree } from '../diff/test/random-tree.js';
import { diffTreeEntries } from '../diff/trees.js';
import { BLOB, type Oid } from '../object/object.js';
import { MemoryObjects } from '../test/memory-objects.js';
import { oid } from '../test/oid.js';
import { ScratchGit } from '../test/workbench.js';
import { applyPatch } from './apply-patch.js';
import { PatchError } from './patch-error.js';
import { applied } from './test/applied.js';
import { gitApply } from './test/git-apply.js';

async function compare(t: Test, git: ScratchGit, objects: MemoryObjects, tree: Oid, patch: Buffer, name: string) {
  const expected = gitApply(git, tree, patch).tree;
  const found = (await applied(objects, tree, patch)).tree;
  t.equal(found, expected, name, { patch: patch.toString('latin1') });
}

t.test('a patch of git diff-tree between random trees turns one into the other', async (t) => {
  using git = new ScratchGit();
  const all = new MemoryObjects();
  const tree = new RandomTree(new RandomText(21));
  let before = tree.write(all);
  for (let step = 0; step < 25; step++) {
    tree.change();
    const after = tree.write(all);
    git.copy(all);
    const options = step % 3 === 0 ? ['--no-renames'] : ['-M', '-C', '--find-copies-harder'];
    const { stdout } = git.try(['diff-tree', '-r', '-p', '--binary', ...options, before, after]);
    // Copy only the objects of the old tree. The result can then contain new contents only from the patch.
    const objects = new MemoryObjects();
    const needed = new Set(
      [...diffTreeEntries(all, undefined, before)].flatMap((each) =>
        typeof each === 'number' ? [] : [each.after!.oid],
      ),
    );
    for (let number = 0; number < all.size; number++) {
      if (all.typeOf(number) !== BLOB || needed.has(all.oidOf(number))) {
        objects.write(all.typeOf(number), all.read(number));
      }
    }
    t.equal((await applied(objects, before, stdout)).tree, after, options.join(' '));
    before = after;
  }
});

t.test('randomly changed patches are accepted or refused as by git apply', async (t) => {
  using git = new ScratchGit();
  const objects = new MemoryObjects();
  const random = new RandomText(33);
  const tree = new RandomTree(random);
  for (let step = 0; step < 40; step++) {
    const before = tree.write(objects);
    tree.change();
    const after = tree.write(objects);
    const diff = await diffTrees(objects, before, after, { meter: unlimited() });
    const texts = diff.files.filter((file) => !file.isBinary).map((file) => file.raw().toString('latin1'));
    const patch = tamper(random, texts.join(''));
    if (patch === '') continue;
    git.copy(objects);
    await compare(t, git, objects, before, Buffer.from(patch, 'latin1'), `step ${step}`);
  }
});

/**
 * Damages a patch at random. It removes, repeats, truncates or inserts lines, or shifts line numbers in hunk headers.
 */
function tamper(random: RandomText, patch: string): string {
  const lines = patch.split('\n');
  const at = random.below(lines.length);
  const kind = random.below(9);
  if (kind === 0) lines.splice(at, 1);
  else if (kind === 1) lines.splice(at, 0, lines[random.below(lines.length)]!);
  else if (kind === 2) lines[at] = lines[at]!.slice(0, -1);
  else if (kind === 3) lines.length = at;
  else if (kind === 4) lines.splice(at, 0, 'some text');
  else {
    const move = kind === 5 ? 0 : random.below(40) - 20;
    for (const [index, line] of lines.entries()) {
      lines[index] = line.replace(/^@@ -(\d+)(.*) \+(\d+)/, (_, old: string, rest: string, young: string) => {
        return `@@ -${Math.max(0, Number(old) + move)}${rest} +${Math.max(0, Number(young) + move)}`;
      });
    }
  }
  return lines.join('\n');
}

const NUMBERS = Array.from({ length: 30 }, (_, index) => `${index + 1}\n`).join('');

/** Patches in unusual forms. Git accepts some and refuses others. Each has a name for messages. */
const CASES: readonly (readonly [name: string, patch: string])[] = [
  ['a traditional header', '--- a/n\n+++ b/n\n@@ -1,2 +1,2 @@\n-1\n+one\n 2\n'],
  ['names without folders', '--- n\n+++ n\n@@ -1,2 +1,2 @@\n-1\n+one\n 2\n'],
  [
    'names with dates',
    '--- a/n\t2024-01-01 00:00:00.000000000 +0000\n+++ b/n\t2024-01-02 00:00:00\n@@ -1,2 +1,2 @@\n-1\n+one\n 2\n',
  ],
  [
    'dates without a tab',
    '--- a/n 2024-01-01 00:00:00 +0000\n+++ b/n 2024-01-02 00:00:00 +0000\n@@ -1,2 +1,2 @@\n-1\n+one\n 2\n',
  ],
  ['a new file by /dev/null', '--- /dev/null\n+++ b/fresh\n@@ -0,0 +1 @@\n+x\n'],
  [
    'a new file by its date',
    '--- a/fresh\t1970-01-01 01:00:00.000 +0100\n+++ b/fresh\t2024-01-02 00:00:00 +0000\n@@ -0,0 +1 @@\n+x\n',
  ],
  ['a deleted file by /dev/null', '--- a/one\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n'],
  [
    'a deleted file by its date',
    '--- a/one\t2024-01-02 00:00:00 +0000\n+++ b/one\t1970-01-01 00:00:00 +0000\n@@ -1 +0,0 @@\n-one\n',
  ],
  ['a file that becomes empty', '--- a/one\n+++ b/one\n@@ -1 +0,0 @@\n-one\n'],
  ['file.orig', '--- a/n.orig\n+++ b/n\n@@ -1,2 +1,2 @@\n-1\n+one\n 2\n'],
  [
    'a mail around the patch',
    `From x\nSubject: y\n\ntext\n---\n n | 2 +-\n\n--- a/n\n+++ b/n\n@@ -1,2 +1,2 @@\n-1\n+one\n 2\n-- \n2.39\n`,
  ],
  ['a hunk ten lines off', '--- a/n\n+++ b/n\n@@ -5,3 +5,3 @@\n 14\n-15\n+x\n 16\n'],
  [
    'two hunks in the wrong order',
    '--- a/n\n+++ b/n\n@@ -20,3 +20,3 @@\n 20\n-21\n+x\n 22\n@@ -5,3 +5,3 @@\n 5\n-6\n+y\n 7\n',
  ],
  ['two hunks that overlap', '--- a/n\n+++ b/n\n@@ -5,3 +5,3 @@\n 5\n-6\n+y\n 7\n@@ -7,3 +7,3 @@\n 7\n-8\n+x\n 9\n'],
  ['a hunk without context in the middle', '--- a/n\n+++ b/n\n@@ -5 +5 @@\n-5\n+x\n'],
  ['an insertion without context', '--- a/n\n+++ b/n\n@@ -5,0 +6 @@\n+x\n'],
  ['a hunk that must be at the end', '--- a/n\n+++ b/n\n@@ -9,2 +9,2 @@\n 29\n-30\n+x\n'],
  ['a hunk that must be at the start', '--- a/n\n+++ b/n\n@@ -1,2 +1,2 @@\n-4\n+x\n 5\n'],
  ['lines that are not there', '--- a/n\n+++ b/n\n@@ -5,3 +5,3 @@\n 5\n-7\n+y\n 6\n'],
  ['a wrong count', '--- a/n\n+++ b/n\n@@ -5,4 +5,3 @@\n 5\n-6\n+y\n 7\n'],
  ['a hunk that changes nothing', '--- a/n\n+++ b/n\n@@ -5,2 +5,2 @@\n 5\n 6\n'],
  ['a hunk without a header', '@@ -5,3 +5,3 @@\n 5\n-6\n+y\n 7\n'],
  ['an empty context line without its space', '--- a/gaps\n+++ b/gaps\n@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n'],
  ['no line feed at the end any more', '--- a/one\n+++ b/one\n@@ -1 +1 @@\n-one\n+one\n\\ No newline at end of file\n'],
  ['a line feed at the end at last', '--- a/cut\n+++ b/cut\n@@ -1 +1 @@\n-cut\n\\ No newline at end of file\n+cut\n'],
  ['a line feed the file does not have', '--- a/cut\n+++ b/cut\n@@ -1 +1 @@\n-cut\n+cu\n'],
  ['a mode', 'diff --git a/n b/n\nold mode 100644\nnew mode 100755\n'],
  ['a mode of another kind', 'diff --git a/n b/n\nold mode 100644\nnew mode 120000\n'],
  ['a header that says nothing', 'diff --git a/n b/n\n'],
  ['only an index line', 'diff --git a/n b/n\nindex 1234567..1234568 100644\n'],
  ['an empty new file', 'diff --git a/fresh b/fresh\nnew file mode 100644\nindex 0000000..e69de29\n'],
  [
    'a new file over an old one',
    'diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n',
  ],
  ['a name with a space', 'diff --git a/sp ace b/sp ace\nold mode 100644\nnew mode 100755\n'],
  ['a quoted name', 'diff --git "a/caf\\303\\251" "b/caf\\303\\251"\nold mode 100644\nnew mode 100755\n'],
  ['one quoted name', 'diff --git "a/n" b/n\nold mode 100644\nnew mode 100755\n'],
  ['two names that differ', 'diff --git a/n b/m\nold mode 100644\nnew mode 100755\n'],
  ['a rename', 'diff --git a/n b/m\nsimilarity index 100%\nrename from n\nrename to m\n'],
  ['a rename onto a file', 'diff --git a/n b/one\nrename from n\nrename to one\n'],
  ['a copy', 'diff --git a/n b/m\ncopy from n\ncopy to m\n'],
  [
    'a swap of names',
    'diff --git a/n b/one\nrename from n\nrename to one\ndiff --git a/one b/n\nrename from one\nrename to n\n',
  ],
  [
    'a rename and a change of the old name',
    'diff --git a/one b/m\nrename from one\nrename to m\n--- a/one\n+++ b/one\n@@ -1 +1 @@\n-one\n+x\n',
  ],
  [
    'two changes of one file',
    '--- a/one\n+++ b/one\n@@ -1 +1 @@\n-one\n+two\n--- a/one\n+++ b/one\n@@ -1 +1 @@\n-two\n+three\n',
  ],
  ['names that contradict each other', 'diff --git a/n b/n\n--- a/n\n+++ b/m\n@@ -1,2 +1,2 @@\n-1\n+one\n 2\n'],
  ['new and deleted at once', 'diff --git a/x b/x\nnew file mode 100644\ndeleted file mode 100644\n'],
  ['a file that does not exist', '--- a/none\n+++ b/none\n@@ -1,2 +1,2 @@\n-1\n+one\n 2\n'],
  [
    'a deletion that leaves something',
    'diff --git a/n b/n\ndeleted file mode 100644\n--- a/n\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-1\n-2\n',
  ],
  [
    'a link changed',
    'diff --git a/link b/link\n--- a/link\n+++ b/link\n@@ -1 +1 @@\n-one\n\\ No newline at end of file\n+n\n\\ No newline at end of file\n',
  ],
  ['a file behind a link', '--- /dev/null\n+++ b/link/x\n@@ -0,0 +1 @@\n+x\n'],
  [
    'a file in the place of a link',
    'diff --git a/link b/link\ndeleted file mode 120000\n--- a/link\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n\\ No newline at end of file\ndiff --git a/link/x b/link/x\nnew file mode 100644\n--- /dev/null\n+++ b/link/x\n@@ -0,0 +1 @@\n+x\n',
  ],
  [
    'a gitlink moved',
    `diff --git a/sub b/sub\nindex 1111111..2222222 160000\n--- a/sub\n+++ b/sub\n@@ -1 +1 @@\n-Subproject commit ${'1'.repeat(40)}\n+Subproject commit ${'2'.repeat(40)}\n`,
  ],
  [
    'a gitlink to nowhere',
    `diff --git a/sub b/sub\nindex 1111111..2222222 160000\n--- a/sub\n+++ b/sub\n@@ -1 +1 @@\n-Subproject commit ${'1'.repeat(40)}\n+nonsense\n`,
  ],
  ['a path with ..', 'diff --git a/../x b/../x\nnew file mode 100644\n--- /dev/null\n+++ b/../x\n@@ -0,0 +1 @@\n+x\n'],
  [
    'a path into .git',
    'diff --git a/.git/x b/.git/x\nnew file mode 100644\n--- /dev/null\n+++ b/.git/x\n@@ -0,0 +1 @@\n+x\n',
  ],
  ['a folder in the place of a file', '--- /dev/null\n+++ b/one/x\n@@ -0,0 +1 @@\n+x\n'],
  ['binary files that differ', 'diff --git a/n b/n\nindex 1234567..1234568 100644\nBinary files a/n and b/n differ\n'],
  ['CR LF', '--- a/crlf\n+++ b/crlf\n@@ -1,2 +1,2 @@\n-a\r\n+b\r\n c\r\n'],
  ['CR LF for LF', '--- a/n\n+++ b/n\n@@ -1,2 +1,2 @@\n-1\r\n+b\r\n 2\r\n'],
  ['no patch at all', 'hello\n'],
];

t.test('every kind of patch has the same result as with git apply', async (t) => {
  using git = new ScratchGit();
  const objects = new MemoryObjects();
  const content = {
    n: NUMBERS,
    one: 'one\n',
    cut: 'cut',
    gaps: 'a\n\nb\n',
    crlf: 'a\r\nc\r\n',
    'sp ace': 'x\n',
    'caf\xc3\xa9': 'x\n',
    link: [0o120000, objects.add('blob', 'one')] as const,
    sub: [0o160000, oid('1'.repeat(40))] as const,
  };
  const tree = objects.tree(content);
  git.copy(objects);
  for (const [name, patch] of CASES) await compare(t, git, objects, tree, Buffer.from(patch, 'latin1'), name);
});

t.test('a refusal has the message of git apply', async (t) => {
  const objects = new MemoryObjects();
  const tree = objects.tree({ n: NUMBERS });
  const refusals = [
    ['--- a/n\n+++ b/n\n@@ -5,3 +5,3 @@\n 5\n-7\n+y\n 6\n', 'patch failed: n:5\nn: patch does not apply'],
    ['--- a/n\n+++ b/n\n@@ -5,4 +5,3 @@\n 5\n-6\n+y\n 7\n', 'corrupt patch at line 3'],
    ['--- a/x\n+++ b/x\n@@ -5,3 +5,3 @@\n 5\n-6\n+y\n 7\n', 'x: does not exist in index'],
    ['diff --git a/n b/n\nnew file mode 100644\n', 'n: already exists in index'],
    ['hello\n', 'No valid patches in input'],
  ] as const;
  for (const [patch, message] of refusals)
    await t.rejects(applyPatch(objects, tree, Buffer.from(patch), { meter: unlimited() }), { message });
});

t.test('corrupt binary patches are refused', async (t) => {
  const objects = new MemoryObjects();
  const other = new MemoryObjects();
  const tree = objects.tree({ b: '\0one' });
  other.tree({ b: '\0one' });
  const young = other.tree({ b: `\0two${'x'.repeat(500)}` });
  const diff = await diffTrees(other, tree, young, { meter: unlimited(), binary: true });
  const patch = diff.files[0]!.raw().toString('latin1');
  t.equal((await applied(objects, tree, Buffer.from(patch, 'latin1'))).tree, young);
  const broken = [
    patch.replace(/^literal \d+/m, 'literal 9'),
    patch.replace(/^literal \d+/m, 'literal 999999999999'),
    patch.replace(/^[A-Za-z](?=.{10,}$)/m, '!'),
    patch.replace(/(?<=^GIT binary patch\nliteral \d+\n.....)./m, ' '),
    patch.replace(/index \w{10}/, 'index 0000000000'),
    patch.replace(/index .*/, 'index 1234567..1234568'),
    patch.slice(0, patch.indexOf('literal') + 30),
  ];
  for (const text of broken) {
    await t.rejects(
      applyPatch(objects, tree, Buffer.from(text, 'latin1'), { meter: unlimited() }),
      PatchError,
      text.slice(0, 200),
    );
  }
});

t.test('patches of long binary files work in both directions, and only if complete', async (t) => {
  using git = new ScratchGit();
  const random = new RandomText(5);
  const bytes = (length: number) => Buffer.from(Array.from({ length }, () => random.below(256))).toString('latin1');
  const [before, added] = [`\0${bytes(700_000)}`, bytes(1_200_000)];
  const all = new MemoryObjects();
  const old = all.tree({ changed: before });
  const young = all.tree({ changed: `${before.slice(0, 400_000)}+${before.slice(400_000)}`, added: `\0${added}` });
  git.copy(all);
  const objects = new MemoryObjects();
  t.equal(objects.tree({ changed: before }), old);
  const ours = Buffer.concat(
    (await diffTrees(all, old, young, { meter: unlimited(), binary: true })).files.map((file) => file.raw()),
  );
  const theirs = git.try(['diff-tree', '-r', '-p', '--binary', old, young]).stdout;
  for (const patch of [ours, theirs]) {
    t.equal(gitApply(git, old, patch).tree, young);
    t.equal((await applied(objects, old, patch)).tree, young);
  }
  // Remove the last line of the first file's binary data. It contains the end of the zlib stream, or only its checksum.
  const lines = theirs.toString('latin1').split('\n');
  const end = lines.indexOf('');
  lines.splice(end - 1, 1);
  await t.rejects(applyPatch(objects, old, Buffer.from(lines.join('\n'), 'latin1'), { meter: unlimited() }), {
    message: /corrupt binary patch/,
  });
});

t.test('hunks far from their stated lines are found, but the search is limited', async (t) => {
  const objects = new MemoryObjects();
  const numbers = Array.from({ length: 300 }, (_, index) => index);
  const blocks = numbers.map((number) => `over ${number}\nold ${number}\nunder ${number}\n`);
  const tree = objects.tree({ n: 'a\n'.repeat(20_000) + blocks.join('') });
  const hunks = numbers.map((n) => `@@ -2,3 +2,3 @@\n over ${n}\n-old ${n}\n+new ${n}\n under ${n}\n`);
  const patch = Buffer.from(`--- a/n\n+++ b/n\n${hunks.join('')}`);
  await t.rejects(applyPatch(objects, tree, patch, { meter: unlimited(), searchLimit: 1_000_000 }), {
    message: /too long/,
  });
  const [file] = await applyPatch(objects, tree, patch, { meter: unlimited() });
  t.match(file, { path: 'n', bytes: Buffer.from('a\n'.repeat(20_000) + blocks.join('').replaceAll('old', 'new')) });
});
