import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Oid, typeCode } from '../object/object.js';
import { MemoryObjects } from './memory-objects.js';
import { oid } from './oid.js';
import { randomNumbers } from './random-numbers.js';
import { ScratchGit } from './workbench.js';

interface Draft {
  readonly parents: readonly number[];
  readonly files: Map<string, string>;
  readonly date: number;
}

interface HistoryShape {
  readonly seed: number;
  readonly commits: number;
  /** Maximum number of seconds by which a commit's date may be earlier than its parents' dates. */
  readonly skew: number;
}

const GITLINK = '160000 5e1fac7f1e5a1f0c1d2e3f4a5b6c7d8e9fa0b1c2';
/** File names for random histories. Some exist both as a file and as a folder, need quoting, or are not valid UTF-8. */
const NAMES = [
  'a',
  'a/b',
  'a/b/c',
  'a.c',
  'a-b',
  'b/x',
  'b/y',
  'b/z/deep/file',
  'ü/ö',
  '\xff\xfe',
  'one two',
  'x*[y]',
  'z',
];
const FIRST_DATE = 1_600_000_000;

/**
 * Repository of real Git with a random history, to compare Git with this project. The same shape produces the same
 * history.
 *
 * The history contains merges, criss-cross and octopus merges, unrelated roots, subtrees, reverts, renames, evil
 * merges, files that return or become folders, modes, gitlinks, commits without changes, equal dates, and clocks that
 * run backwards.
 */
export class GeneratedHistory implements Disposable {
  readonly git = new ScratchGit('--bare');
  readonly objects: MemoryObjects;
  /** Ids of all commits, parents first. */
  readonly commits: readonly Oid[];
  readonly random: (below: number) => number;

  constructor(shape: HistoryShape) {
    this.random = randomNumbers(shape.seed);
    const drafts = draftHistory(shape, this.random);
    const marks = join(this.git.path, 'marks');
    this.git.run(['fast-import', '--quiet', `--export-marks=${marks}`], Buffer.from(importOf(drafts), 'latin1'));
    this.commits = readMarks(marks, drafts.length);
    this.objects = loadObjects(this.git);
  }

  [Symbol.dispose](): void {
    this.git[Symbol.dispose]();
  }

  /** Returns the id of a random commit. Newer commits are more likely. */
  pick(): Oid {
    const { length } = this.commits;
    return this.commits[length - 1 - Math.min(this.random(length), this.random(length))]!;
  }

  pickSome(max: number): Oid[] {
    return [...new Set(Array.from({ length: 1 + this.random(max) }, () => this.pick()))];
  }

  lines(...args: string[]): string[] {
    const out = this.git.run(args);
    return out === '' ? [] : out.split('\n');
  }

  oids(...args: string[]): Oid[] {
    return this.git.oids(args);
  }
}

function draftHistory({ commits, skew }: HistoryShape, random: (below: number) => number): Draft[] {
  const drafts: Draft[] = [];
  const recent = () => drafts.length - 1 - random(Math.min(drafts.length, 8));
  const pickParents = (): number[] => {
    if (drafts.length === 0 || random(25) === 0) return [];
    const count = random(10) === 0 ? 2 + random(4) : random(3) === 0 ? 2 : 1;
    return [...new Set(Array.from({ length: count }, recent))];
  };
  for (let at = 0; at < commits; at++) {
    const parents = pickParents();
    const files = mergeFiles(
      parents.map((parent) => drafts[parent]!.files),
      random,
    );
    if (random(12) === 0 && at > 0) restore(files, drafts[random(at)]!.files, random);
    for (let edits = random(parents.length > 1 ? 2 : 3); edits > 0; edits--) edit(files, random);
    const latest = Math.max(FIRST_DATE, ...parents.map((parent) => drafts[parent]!.date));
    // Round dates to multiples of ten, so that many commits have the same date.
    const date = latest + 10 * random(6) - 10 * Math.floor(random(skew + 1) / 10);
    drafts.push({ parents, files, date });
  }
  return drafts;
}

/**
 * Returns the files of a random merge. Usually each path comes from a random parent. Sometimes all paths come from one
 * parent, or one parent becomes a folder inside the other.
 */
function mergeFiles(sides: readonly Map<string, string>[], random: (below: number) => number): Map<string, string> {
  if (sides.length === 0) return new Map([[`root-${random(4)}`, '100644 root']]);
  const way = random(6);
  if (sides.length === 1 || way === 0) return new Map(sides[random(sides.length)]);
  const files = new Map<string, string>();
  if (way === 1) {
    for (const [path, file] of sides[0]!) put(files, path, file);
    for (const [path, file] of sides[1]!) if (path.length < 40) put(files, `sub/${path}`, file);
    return files;
  }
  for (const path of new Set(sides.flatMap((side) => [...side.keys()]))) {
    const file =
      sides[random(sides.length)]!.get(path) ??
      (random(2) === 0 ? sides.find((side) => side.has(path))?.get(path) : undefined);
    if (file) put(files, path, file);
  }
  return files;
}

/** Reverts files to their state in `old`: in a third of the cases all files, otherwise one random file. */
function restore(files: Map<string, string>, old: Map<string, string>, random: (below: number) => number): void {
  if (random(3) === 0) {
    files.clear();
    for (const [path, file] of old) files.set(path, file);
  } else {
    const path = [...old.keys()][random(old.size)];
    if (path !== undefined) put(files, path, old.get(path)!);
  }
}

function edit(files: Map<string, string>, random: (below: number) => number): void {
  const known = [...files.keys()];
  const path = known[random(known.length)] ?? 'a';
  const way = random(12);
  if (way === 0) files.delete(path);
  else if (way === 1) files.set(path, GITLINK);
  else if (way === 2) files.set(path, `120000 ${path}`);
  else if (way === 3) files.set(path, (files.get(path) ?? '').replace(/^100644|^120000|^160000.*/, '100755'));
  else if (way === 4) {
    const file = files.get(path) ?? '100644 moved';
    files.delete(path);
    put(files, NAMES[random(NAMES.length)]!, file);
  } else put(files, NAMES[random(NAMES.length)]!, `100644 ${'line\n'.repeat(random(20))}${random(10)}`);
}

/** Sets a file. Removes files and folders that are in the way of its path. */
function put(files: Map<string, string>, path: string, file: string): void {
  for (const other of [...files.keys()]) {
    if (other.startsWith(`${path}/`) || path.startsWith(`${other}/`)) files.delete(other);
  }
  files.set(path, file);
}

function importOf(drafts: readonly Draft[]): string {
  const lines: string[] = [];
  for (const [at, { parents, files, date }] of drafts.entries()) {
    lines.push(`commit refs/heads/b${at}`, `mark :${at + 1}`, `committer C <c@example.com> ${date} +0000`);
    lines.push(`data ${String(at).length}`, String(at));
    for (const [nth, parent] of parents.entries()) lines.push(`${nth === 0 ? 'from' : 'merge'} :${parent + 1}`);
    lines.push('deleteall');
    for (const [path, file] of files) {
      const [mode, content] = [file.slice(0, 6), file.slice(7)];
      if (mode === '160000') lines.push(`M 160000 ${content} ${quoted(path)}`);
      else lines.push(`M ${mode} inline ${quoted(path)}`, `data ${content.length}`, content);
    }
    lines.push('');
  }
  return `${lines.join('\n')}\n`;
}

function quoted(path: string): string {
  return `"${path.replace(/["\\]/g, '\\$&')}"`;
}

function readMarks(file: string, count: number): Oid[] {
  const commits: Oid[] = new Array(count);
  for (const line of readFileSync(file, 'latin1').split('\n')) {
    const match = /^:(\d+) ([0-9a-f]{40})$/.exec(line);
    if (match) commits[Number(match[1]) - 1] = oid(match[2]!);
  }
  return commits;
}

/**
 * Loads all objects of a repository, ordered by id. `git cat-file --batch` prints each object as `<oid> SP <type> SP
 * <size> LF <body> LF`.
 */
export function loadObjects(git: ScratchGit): MemoryObjects {
  const { stdout } = git.try(['cat-file', '--batch-all-objects', '--batch']);
  const objects = new MemoryObjects();
  for (let at = 0; at < stdout.length; ) {
    const end = stdout.indexOf('\n', at);
    const [, type, size] = stdout.toString('latin1', at, end).split(' ');
    objects.write(typeCode(type as 'blob'), stdout.subarray(end + 1, end + 1 + Number(size)));
    at = end + 2 + Number(size);
  }
  return objects;
}
