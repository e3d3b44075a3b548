import { randomNumbers } from './random-numbers.js';
import { ScratchGit } from './workbench.js';

// Test histories as streams for `git fast-import`. There are linear ones, ones with long delta chains, and random ones.

/** Returns the time of commit number `index` of `linearHistory`, in seconds since 1970. */
export function commitTime(index: number): number {
  return 1_700_000_000 + index * 1000;
}

/**
 * Returns a `git fast-import` stream of `count` commits on `branch`. Each commit changes some of `files` files in
 * nested folders. Commit n has the mark `:n`, and every tenth commit has an annotated tag `v<n>`.
 */
export function linearHistory(count: number, { branch = 'main', files = 20, from = '', tags = true } = {}): string {
  const lines: string[] = [];
  const identity = (index: number) => `A U Thor <author@example.com> ${commitTime(index)} +0000`;
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  for (let index = 1; index <= count; index++) {
    lines.push(`commit refs/heads/${branch}\nmark :${index}\ncommitter ${identity(index)}\n`);
    lines.push(data(`${branch} ${index}\n`));
    if (index === 1 && from !== '') lines.push(`from ${from}\n`);
    for (let file = index % 3; file < files; file += index === 1 ? 1 : 7) {
      const body = Array.from({ length: 40 }, (_, line) => `${branch} ${file} ${(line * index) % 13} ${line}`).join(
        '\n',
      );
      lines.push(`M 100644 inline folder-${file % 4}/deep/file-${file}.txt\n${data(`${body}\n${index}\n`)}`);
    }
    if (tags && index % 10 === 0)
      lines.push(`tag v${index}\nfrom :${index}\ntagger ${identity(index)}\n${data(`version ${index}\n`)}`);
  }
  return lines.join('');
}

/**
 * Creates a repository with `commits` commits on `main` and an annotated tag. Each commit changes some of `files` files
 * in folders. Packs of this history therefore have delta chains of blobs and trees.
 */
export function generateHistory(commits: number, files = 12): ScratchGit {
  const git = new ScratchGit('--bare');
  const stream: string[] = [];
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const contents = Array.from({ length: files }, (_, file) => lines(file, 60));
  for (let commit = 0; commit < commits; commit++) {
    stream.push('commit refs/heads/main\n', `mark :${commit + 1}\n`);
    stream.push(`committer C O Mitter <committer@example.com> ${1_700_000_000 + commit * 60} +0000\n`);
    stream.push(data(`commit number ${commit}\n`));
    for (let file = 0; file < files; file++) {
      if (commit > 0 && (commit + file) % 5 !== 0) continue;
      const text = contents[file]!;
      text[(commit * 7 + file) % text.length] = `line changed by ${commit} in ${file}`;
      if (commit % 3 === 0) text.push(`added by ${commit}`);
      stream.push(`M 100644 inline folder${file % 3}/deep${file % 2}/file${file}.txt\n`, data(`${text.join('\n')}\n`));
    }
  }
  stream.push(`tag v1\nfrom :${commits}\ntagger T <t@example.com> 1700000000 +0000\n`, data('a tag\n'));
  git.run(['fast-import', '--quiet'], stream.join(''));
  return git;
}

/** Returns `count` lines that compress badly. Different seeds give different lines. */
function lines(seed: number, count: number): string[] {
  let state = seed + 1;
  return Array.from({ length: count }, () => {
    state = Math.imul(state, 1_103_515_245) + 12_345;
    return `${(state >>> 0).toString(36)} ${((state >>> 7) * 31).toString(36)} some words`;
  });
}

interface File {
  readonly mode: '100644' | '100755' | '120000' | '160000';
  /** Content of the file as a byte string (one character per byte). For a submodule, the commit id. */
  readonly content: string;
}

type Files = ReadonlyMap<string, File>;

const FOLDERS = ['', 'src/', 'src/deep/er/', 'größe/', 'a b/', '日本/'];
const NAMES = ['one.txt', 'two.js', 'README', 'naïve.md', 'x', 'x.y', "it's", 'q"uote', 'tab\tname', '[glob]*.c'];
const WORDS = ['alpha', 'beta', 'gamma', 'delta', 'omega', 'return', 'größe', '語', '{', '}', '\tindented', ''];
const PEOPLE = [
  'Ada Lovelace <ada@example.com>',
  'Émile Zöe <emile@example.com>',
  'x <x@localhost>',
  '<nobody@example.com>',
];
const MESSAGES = [
  'Change',
  'Ändere\n\nMit Text.\n',
  'no end',
  '\n\nlate subject\n',
  'two\nlines\n',
  'trailing \n\n\n',
  '',
  ' \n\t\n indented',
];
const ZONES = ['+0000', '+0130', '-0800', '+1245'];

/**
 * Returns a `git fast-import` stream of `commits` random commits. Each is reachable from some ref `refs/heads/c<n>`,
 * and the last one is `main`.
 *
 * The history contains merges, criss-cross and octopus merges, renames with and without edits, modes, symbolic links,
 * submodules, binary files, non-ASCII names, files that return, and equal dates.
 */
export function randomHistory(seed: number, commits: number): Buffer {
  const random = randomNumbers(seed);
  const pick = <T>(from: readonly T[]): T => from[random(from.length)]!;
  const states: Files[] = [];
  const childless = new Set<number>();
  const out: string[] = [];
  for (let at = 0; at < commits; at++) {
    const parents = pickParents(at, random);
    const files = edit(
      mergeSides(
        parents.map((parent) => states[parent]!),
        random,
      ),
      states,
      random,
    );
    states.push(files);
    for (const parent of parents) childless.delete(parent);
    childless.add(at);
    const when = 1_700_000_000 + at * 600 - random(3) * 600;
    const message = Buffer.from(pick(MESSAGES)).toString('latin1');
    out.push(
      `commit refs/heads/main\nmark :${at + 1}\n`,
      `author ${bytes(pick(PEOPLE))} ${when - random(1000)} ${pick(ZONES)}\n`,
      `committer ${bytes(pick(PEOPLE))} ${when} ${pick(ZONES)}\n`,
      `data ${message.length}\n${message}\n`,
      ...parents.map((parent, index) => `${index === 0 ? 'from' : 'merge'} :${parent + 1}\n`),
      'deleteall\n',
    );
    for (const [path, { mode, content }] of files) {
      const name = `"${bytes(path).replace(/[\\"]/g, '\\$&').replaceAll('\t', '\\t')}"`;
      if (mode === '160000') out.push(`M 160000 ${content} ${name}\n`);
      else out.push(`M ${mode} inline ${name}\ndata ${content.length}\n${content}\n`);
    }
  }
  for (const at of childless) out.push(`reset refs/heads/c${at + 1}\nfrom :${at + 1}\n\n`);
  out.push(`tag v1\nfrom :${commits}\ntagger ${PEOPLE[0]} 1700000000 +0000\ndata 3\none\n`);
  return Buffer.from(out.join(''), 'latin1');
}

function bytes(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function pickParents(at: number, random: (below: number) => number): number[] {
  if (at === 0) return [];
  const recent = () => at - 1 - random(Math.min(at, 5));
  const count = random(12) === 0 ? 3 : random(3) === 0 ? 2 : 1;
  return [...new Set([at - 1 - random(Math.min(at, 2)), ...Array.from({ length: count - 1 }, recent)])];
}

/** Returns the files of a random merge without conflict handling. Each path comes from a random side. */
function mergeSides(sides: readonly Files[], random: (below: number) => number): Map<string, File> {
  const files = new Map<string, File>();
  for (const path of new Set(sides.flatMap((side) => [...side.keys()]))) {
    const file = sides[random(sides.length)]!.get(path);
    if (file) put(files, path, file);
  }
  return files;
}

function put(files: Map<string, File>, path: string, file: File): void {
  for (const other of files.keys())
    if (other.startsWith(`${path}/`) || path.startsWith(`${other}/`)) files.delete(other);
  files.set(path, file);
}

function edit(files: Map<string, File>, states: readonly Files[], random: (below: number) => number): Files {
  const pick = <T>(from: readonly T[]): T => from[random(from.length)]!;
  for (let edits = files.size < 6 ? 8 : random(4); edits > 0; edits--) {
    const path = random(2) === 0 && files.size > 0 ? pick([...files.keys()]) : pick(FOLDERS) + pick(NAMES);
    const old = files.get(path);
    const way = random(14);
    if (way === 0) files.delete(path);
    else if (way === 1) put(files, path, { mode: '160000', content: String(1 + random(9)).repeat(40) });
    else if (way === 2) put(files, path, { mode: '120000', content: bytes(pick(NAMES)) });
    else if (way === 3) put(files, path, { mode: '100644', content: binary(random) });
    else if (way === 4)
      put(files, path, { mode: '100755', content: old?.mode === '160000' ? '' : (old?.content ?? 'x') });
    else if (way === 5 && states.length > 0) {
      const before = pick([...pick(states)]);
      if (before) put(files, ...before);
    } else if (way < 8 && old) {
      files.delete(path);
      put(files, pick(FOLDERS) + pick(NAMES), way === 6 ? old : editText(old, random));
    } else put(files, path, editText(old, random));
  }
  return files;
}

function binary(random: (below: number) => number): string {
  return Array.from({ length: 200 + random(200) }, () => String.fromCharCode(random(256)))
    .concat('\0')
    .join('');
}

/**
 * Edits a text file at random: changes, inserts, removes or moves lines. If the old file is not a text file, returns a
 * new text.
 */
function editText(old: File | undefined, random: (below: number) => number): File {
  const word = () => bytes(WORDS[random(WORDS.length)]!);
  const line = () => `${word()} ${word()} ${random(20)}`;
  const isText = old?.mode.startsWith('100') === true && !old.content.includes('\0');
  const lines = isText ? old.content.split('\n') : Array.from({ length: 10 + random(40) }, line);
  for (let edits = random(4); edits >= 0; edits--) {
    const at = random(lines.length + 1);
    const way = random(4);
    if (way === 0) lines.splice(at, 0, ...Array.from({ length: 1 + random(3) }, line));
    else if (way === 1) lines.splice(at, 1 + random(3));
    else if (way === 2) lines.splice(at, 0, ...lines.splice(random(lines.length + 1), 3));
    else lines.splice(at, 1, line());
  }
  if (random(6) === 0) lines.push('');
  return { mode: isText ? old.mode : '100644', content: lines.join('\n') };
}
