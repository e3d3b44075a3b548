import fc from 'fast-check';
import type { Oid } from '../../object/object.js';
import type { Content, MemoryObjects } from '../../test/memory-objects.js';
import { oid } from '../../test/oid.js';

/**
 * Files by path. The first characters of the text say what an entry is: `->` for a symbolic link, `@` and a digit for a
 * submodule, and `!` for an executable file. Any other text is a regular file.
 */
export type Files = Readonly<Record<string, string>>;

const PATHS = ['a', 'b', 'a.c', 'd/a', 'd/b', 'd/c', 'd/e/a', 'd/e/b', 'f/a', 'f/b', 'g', 'd/e', 'f'];
const path = fc.constantFrom(...PATHS);
const folder = fc.constantFrom('d', 'd/e', 'f', 'h', 'h/i', 'd/j');

export type Change = (files: Files) => Files;

const content = fc.oneof(
  { weight: 6, arbitrary: fc.nat(8).map((start) => lines(start * 10, start * 10 + 12)) },
  { weight: 1, arbitrary: fc.constantFrom('', '->a', '->b', '@1', '@2', '\0x', '\0y', '!run\n') },
);
/** Random set of 3 to 10 files. */
export const files: fc.Arbitrary<Files> = fc
  .dictionary(path, content, { minKeys: 3, maxKeys: 10, noNullPrototype: true })
  .map(withoutClashes);
/** Random change of such a set. */
export const change: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(path, fc.nat(12), fc.constantFrom('x', 'y')).map(([name, at, text]) => edit(name, at, text)),
  },
  { weight: 2, arbitrary: fc.tuple(path, path).map(([from, to]) => move(from, to)) },
  { weight: 2, arbitrary: fc.tuple(folder, folder).map(([from, to]) => move(from, to)) },
  { weight: 2, arbitrary: fc.tuple(path, content).map(([name, text]) => put(name, text)) },
  { weight: 1, arbitrary: path.map(drop) },
);

export function apply(files: Files, changes: readonly Change[]): Files {
  return changes.reduce((result, change) => change(result), files);
}

/** Combines several changes into one, which applies them in order. */
export function all(...changes: Change[]): Change {
  return (files) => apply(files, changes);
}

/** Returns the lines from `from` to `to` - 1 of a text in which all lines differ. */
export function lines(from: number, to: number): string {
  return Array.from({ length: to - from }, (_, at) => `line ${from + at} of the text\n`).join('');
}

/** Returns a change that writes a file. It removes files and folders that are in the way. */
export function put(path: string, text: string): Change {
  return (files) => withoutClashes({ ...drop(path)(files), [path]: text });
}

/** Deletes a file or a folder. */
export function drop(path: string): Change {
  return (files) =>
    Object.fromEntries(Object.entries(files).filter(([name]) => name !== path && !name.startsWith(`${path}/`)));
}

/** Renames a file or a folder. */
export function move(from: string, to: string): Change {
  return (files) => {
    const moved = Object.entries(files).filter(([name]) => name === from || name.startsWith(`${from}/`));
    const rest = drop(from)(files);
    return moved.reduce((result, [name, text]) => put(to + name.slice(from.length), text)(result), rest);
  };
}

/** Returns a change that replaces line `at` of a regular file. Links and submodules stay unchanged. */
export function edit(path: string, at: number, text = 'changed'): Change {
  return (files) => {
    const file = files[path];
    if (file === undefined || file.startsWith('->') || file.startsWith('@')) return files;
    const parts = file.split('\n');
    parts.splice(Math.min(at, parts.length - 1), 1, text);
    return { ...files, [path]: parts.join('\n') };
  };
}

/** Resolves conflicts between a file and a folder with the same path. The one that was added last is kept. */
function withoutClashes(files: Files): Files {
  const kept: Record<string, string> = {};
  for (const [path, text] of Object.entries(files)) {
    for (const other of Object.keys(kept)) {
      if (other.startsWith(`${path}/`) || path.startsWith(`${other}/`)) delete kept[other];
    }
    kept[path] = text;
  }
  return kept;
}

/** Writes a commit with these files and parents. Its date is `time` seconds after the first commit. */
export function commit(objects: MemoryObjects, files: Files, parents: readonly Oid[], time = 0): Oid {
  const root: Record<string, Content[string]> = {};
  for (const [path, text] of Object.entries(files)) {
    const names = path.split('/');
    let folder = root;
    for (const name of names.slice(0, -1)) {
      folder[name] ??= {};
      folder = folder[name] as Record<string, Content[string]>;
    }
    folder[names.at(-1)!] = entryOf(objects, text);
  }
  return commitTree(objects, objects.tree(root), parents, time);
}

function entryOf(objects: MemoryObjects, text: string): Content[string] {
  if (text.startsWith('->')) return [0o120000, objects.add('blob', text.slice(2))];
  if (text.startsWith('@')) return [0o160000, oid(text.slice(1).repeat(40))];
  if (text.startsWith('!')) return [0o100755, objects.add('blob', text.slice(1))];
  return text;
}

export function commitTree(objects: MemoryObjects, tree: Oid, parents: readonly Oid[], time = 0): Oid {
  const who = `A <a@example.com> ${1_700_000_000 + time} +0000`;
  const header = [`tree ${tree}`, ...parents.map((parent) => `parent ${parent}`), `author ${who}`, `committer ${who}`];
  return objects.add('commit', `${header.join('\n')}\n\nmessage\n`);
}
