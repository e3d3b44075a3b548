import type { RandomText } from '../../diff/test/random-text.js';
import { RandomTree } from '../../diff/test/random-tree.js';
import { type ByteString, bytesIn } from '../../object/bytes.js';
import type { Oid } from '../../object/object.js';
import { MODE_EXECUTABLE, MODE_FILE, MODE_GITLINK, MODE_SYMLINK } from '../../object/tree.js';
import { MemoryObjects } from '../../test/memory-objects.js';
import type { ScratchGit } from '../../test/workbench.js';

/** Random change for tests. `objects` contains all objects of the tree `before`. */
export interface RandomChange {
  readonly before: Oid;
  readonly after: Oid;
  readonly objects: MemoryObjects;
}

const ODD_NAMES = [
  'tra il ',
  'line\nfeed',
  '\xff\xfe',
  'c\rr',
  'back\\slash',
  'folder /x y',
  ' lead',
  'a b/a b',
  '"',
].map(latin1);

/** Makes a random change to a random tree. Adds the objects that only the new tree contains to `all`. */
export function randomChange(random: RandomText, all: MemoryObjects): RandomChange {
  const tree = new RandomTree(random);
  const style = random.pick<(text: string) => string>([
    (text) => text,
    (text) => text.replace(/\r?\n/g, '\r\n'),
    (text) => text.replaceAll('e', '\xe9'),
  ]);
  for (let count = random.below(4); count > 0; count--) {
    const content = random.file(random.lines().slice(0, 20));
    tree.files.set(random.pick(ODD_NAMES), { mode: MODE_FILE, content });
  }
  const objects = new MemoryObjects();
  restyle(tree, style);
  const before = tree.write(objects);
  tree.write(all);
  tree.change();
  restyle(tree, style);
  if (random.below(3) === 0) tree.files.set(random.pick(ODD_NAMES), { mode: MODE_EXECUTABLE, content: 'odd\n' });
  if (random.below(3) === 0) tree.files.delete(random.pick(ODD_NAMES));
  return { before, after: tree.write(all), objects };
}

function restyle(tree: RandomTree, style: (text: string) => string): void {
  for (const [path, file] of tree.files) {
    // Replace zeros in gitlinks, because Git refuses an index with an all-zero gitlink.
    if (file.mode === MODE_GITLINK) tree.files.set(path, { ...file, content: file.content.replaceAll('0', '9') });
    if (file.mode === MODE_GITLINK || file.mode === MODE_SYMLINK || file.content.includes('\0')) continue;
    tree.files.set(path, { ...file, content: style(file.content) });
  }
}

const RENAMES = [['-M'], ['-C', '--find-copies-harder'], ['--no-renames'], ['-M20%', '-B'], []];
const PREFIXES = [
  [],
  [],
  [],
  ['--no-prefix'],
  ['--src-prefix=x/', '--dst-prefix=other/'],
  ['--src-prefix=', '--dst-prefix=b/'],
];
const CONTEXTS = [[], [], ['-U0'], ['-U1'], ['-U2', '--inter-hunk-context=3'], ['-U30']];
const DETAILS = [
  ['--binary'],
  ['--binary'],
  ['--full-index'],
  ['--abbrev=5'],
  [],
  ['-D', '--binary'],
  ['--ignore-space-change'],
];

/** Returns the patch that `git diff-tree` writes for a change, with random options. */
export function randomPatch(random: RandomText, git: ScratchGit, { before, after }: RandomChange): ByteString {
  const options = [RENAMES, PREFIXES, CONTEXTS, DETAILS].flatMap((list) => random.pick(list));
  const quoting = `core.quotePath=${random.pick(['true', 'false'])}`;
  const { stdout } = git.try(['-c', quoting, 'diff-tree', '-r', '-p', ...options, before, after]);
  return bytesIn(stdout);
}

type Mangle = (random: RandomText, lines: string[]) => string[];

const STAMPS = [
  '\t2024-01-02 03:04:05',
  '\t2024-01-02 03:04:05.123456789 +0100',
  ' 2024-01-02 03:04:05 +01:00',
  '   24-01-02 03:04:05',
  '\t1970-01-01 01:00:00.000000000 +0100',
  '\t1969-12-31 23:00:00 -0100',
  '\tMon Jan  1 00:00:00 2024',
  ' (revision 12)',
];
const ENDS = ['\r', ' ', '\t', '\r\r', ' \r', '\t\r', '\v', '\f', ' x', '\rx', '\0', '"'];
const JUNK = [
  'Subject: [PATCH] x',
  '---',
  '-- ',
  '2.39.5',
  '',
  ' n | 2 +-',
  '@@ -1 +1 @@ nothing',
  '@@ - @@',
  '--- a/x',
  '+++ b/x',
  'diff --git a/x b/x',
  'diff --git a/x b/y',
  'diff --git a/index.ts b/index.ts',
  'diff -r -u a/x b/x',
  'Only in b: x',
  'Binary files a/x and b/x differ',
  'Files a/x and b/x differ',
  'GIT binary patch',
  'literal 0',
  '\\ No newline at end of file',
  '\\ short',
  'Index: index.ts',
  '=======',
  'similarity index 101%',
  'old mode 100644',
  'new mode 100755',
  'new file mode 100644',
  'deleted file mode 100644',
  'rename from index.ts',
  'rename to moved',
  'copy from index.ts',
  'copy to copied',
  'index 1234567..89abcde',
  'index 1234567..89abcde 100755',
];

/** Functions that change a patch. Some rewrite it in another valid form, and others break it. */
const MANGLES: readonly Mangle[] = [
  (_, lines) => lines,
  (_, lines) => ended(lines, () => true),
  (_, lines) =>
    ended(
      lines.map((line) => line.replace(/\r$/, '')),
      () => true,
    ),
  (_, lines) => ended(lines, isHeader),
  (_, lines) => ended(lines, (line) => !isHeader(line)),
  (_, lines) => lines.map((line) => line.replace(/\r+$/, '')),
  (random, lines) => ended(lines, (line) => isHeader(line) && random.below(4) === 0, random.pick(ENDS)),
  (random, lines) => ended(lines, () => random.below(9) === 0, random.pick(ENDS)),
  (random, lines) => ended(lines, (line) => /^(?:---|\+\+\+) /.test(line), random.pick(STAMPS)),
  (random, lines) =>
    traditional(lines).map((line) => (/^(?:---|\+\+\+) /.test(line) ? line + random.pick(['', ...STAMPS]) : line)),
  (_, lines) => traditional(lines),
  (_, lines) => traditional(lines).map((line) => line.replace(/^((?:---|\+\+\+) )[ab]\//, '$1')),
  (random, lines) =>
    lines.at(-1) === '' && random.below(2) === 0 ? lines.slice(0, -1) : [...lines.slice(0, -1), random.pick(JUNK)],
  (random, lines) => spliced(lines, random.below(lines.length + 1), 0, random.pick(JUNK)),
  (random, lines) => spliced(lines, headerAt(random, lines), 0, random.pick(JUNK)),
  (random, lines) => spliced(lines, headerAt(random, lines), 0, random.pick(JUNK)),
  (random, lines) => spliced(lines, headerAt(random, lines), 1),
  (random, lines) => spliced(lines, headerAt(random, lines), 1, random.pick(lines)),
  (random, lines) => swapped(lines, headerAt(random, lines)),
  (random, lines) =>
    lines.flatMap((line) =>
      line.startsWith('diff --git ') && random.below(2) === 0 ? [random.pick(JUNK), line] : [line],
    ),
  (random, lines) => [
    'From 123',
    `Subject: ${random.pick(JUNK)}`,
    '',
    random.pick(JUNK),
    '---',
    ...lines.slice(0, -1),
    '-- ',
    '2.39',
    '',
  ],
  (random, lines) => [...shuffled(random, files(lines)).flat(), ''],
  (_, lines) => [...lines.slice(0, -1), ...(files(lines)[0] ?? []), ''],
  (random, lines) => lines.slice(0, random.below(lines.length + 1)),
  (random, lines) => bitten(lines, headerAt(random, lines), random),
  (random, lines) => bitten(lines, random.below(lines.length), random),
  (random, lines) => {
    const move = random.below(9) - 4;
    return lines.map((line) =>
      line.replace(/^@@ -(\d+)(.*) \+(\d+)/, (_, old: string, rest: string, young: string) => {
        return `@@ -${Math.max(0, Number(old) + move)}${rest} +${Math.max(0, Number(young) + move)}`;
      }),
    );
  },
  (random, lines) => spliced(lines, random.below(lines.length + 1), 0, '\\ No newline at end of file'),
  (random, lines) =>
    lines.map((line) =>
      line === '\\ No newline at end of file'
        ? random.pick(['\\ Kein Zeilenende', '\\ short', '\\ No newline\r', '\\No newline at all'])
        : line,
    ),
  (_, lines) => lines.map((line) => (line === ' ' ? '' : line)),
  (random, lines) =>
    lines.map((line) =>
      line.replace(
        /^(old mode|new mode|new file mode|deleted file mode) .*/,
        `$1 ${random.pick(['100644', '644', '0100755', '100664', '120000', '160000', ' 100644', '+100644', '100644x', '', '10064400000000'])}`,
      ),
    ),
  (random, lines) =>
    lines.map((line) =>
      line.replace(
        /^(index [0-9a-f]+\.\.[0-9a-f]+).*/,
        `$1${random.pick(['', ' 100755', ' ', ' 120000', 'ffffffffff', ' x'])}`,
      ),
    ),
  (random, lines) =>
    lines.map((line) =>
      line.replace(
        /^(literal|delta) (\d+)$/,
        `$1${random.pick([' ', '  ', ' +', ' 0', ' 9'])}$2${random.pick(['', ' ', '\r', 'x'])}`,
      ),
    ),
];

/** Applies one to three random functions of `MANGLES` to a patch. */
export function mangled(random: RandomText, patch: ByteString): ByteString {
  let lines: string[] = patch.split('\n');
  for (let count = random.pick([1, 1, 1, 2, 3]); count > 0 && lines.length > 0; count--)
    lines = random.pick(MANGLES)(random, lines);
  return latin1(lines.join('\n'));
}

function latin1(text: string): ByteString {
  return bytesIn(Buffer.from(text, 'latin1'));
}

function isHeader(line: string): boolean {
  return /^(?:diff |--- |\+\+\+ |old mode|new mode|deleted file|new file|copy |rename |similarity|dissimilarity|index |@@ -|GIT binary|literal|delta)/.test(
    line,
  );
}

/** Appends `end` to each line for which `isChosen` returns true. The text after the last line feed is not a line. */
function ended(lines: readonly string[], isChosen: (line: string) => boolean, end = '\r'): string[] {
  return lines.map((line, index) => (index < lines.length - 1 && isChosen(line) ? line + end : line));
}

/** Removes the header lines that Git writes but diff(1) does not. The result is a traditional patch. */
function traditional(lines: readonly string[]): string[] {
  return lines.filter(
    (line) =>
      !/^(?:diff --git|old mode|new mode|deleted file|new file|copy |rename |similarity|dissimilarity|index )/.test(
        line,
      ),
  );
}

function spliced(lines: readonly string[], at: number, count: number, ...added: string[]): string[] {
  const result = [...lines];
  result.splice(at, count, ...added);
  return result;
}

function swapped(lines: readonly string[], at: number): string[] {
  return at + 1 < lines.length ? spliced(lines, at, 2, lines[at + 1]!, lines[at]!) : [...lines];
}

function headerAt(random: RandomText, lines: readonly string[]): number {
  const headers = [...lines.keys()].filter((index) => isHeader(lines[index]!));
  return headers.length === 0 ? 0 : random.pick(headers);
}

/** Changes, inserts or removes one byte of line `at`. */
function bitten(lines: readonly string[], at: number, random: RandomText): string[] {
  const line = lines[at] ?? '';
  const place = random.below(line.length + 1);
  const middle = random.pick(['', ...ENDS, '/', '\\', '.', '0', String.fromCharCode(random.below(256))]);
  return spliced(lines, at, 1, line.slice(0, place) + middle + line.slice(place + random.below(2)));
}

/** Splits the lines of a patch into one list per file. Omits the empty string after the final line feed. */
function files(lines: readonly string[]): string[][] {
  const result: string[][] = [];
  for (const line of lines.slice(0, -1)) {
    if (line.startsWith('diff --git ') || result.length === 0) result.push([]);
    result.at(-1)!.push(line);
  }
  return result;
}

function shuffled<T>(random: RandomText, values: readonly T[]): T[] {
  const rest = [...values];
  const result: T[] = [];
  while (rest.length > 0) result.push(...rest.splice(random.below(rest.length), 1));
  return result;
}
