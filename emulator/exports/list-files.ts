import type { Steps } from '../schedule/steps.js';
import { type FileTree, SourceError } from '../sources/file-tree.js';
import { digestedName, digestIn, readJson } from './read-json.js';

/*
 * A long list of a folder that is kept is split into files, so that a save writes only those in which something has changed.
 * In place of the list stands `{"lists": [NAME, …]}`: it is what the files hold, one after the other. A file is named by the
 * SHA-1 of its content and lies beside the file that names it.
 */

/** A list of fewer items stays in the file that it belongs to. */
const FEW = 256;
/** A file of a list ends behind one in so many items, chosen by its key, and with this many at most. */
const USUAL = 128;
const MOST = 1024;
/** Cost of an item that has not changed, and of one that is written, in units of work. */
const COMPARED = 1 / 8;
const WRITTEN = 2;

/** A list in the value of a file: its items by a key that is unique, each an immutable value. */
export class List {
  /** What stands in the file in place of the list; undefined for the list itself. */
  shown: unknown;

  constructor(
    readonly size: number,
    readonly entries: Iterable<readonly [key: string, value: unknown]>,
    readonly show: (key: string, value: never) => unknown,
  ) {}

  toJSON(): unknown {
    return this.shown ?? Array.from(this.entries, ([key, value]) => this.show(key, value as never));
  }
}

/** One file of a list, and what it was made of. */
interface Part {
  readonly name: string;
  readonly keys: readonly string[];
  readonly values: readonly unknown[];
}

/** A list after it was written: the value that represents it in its parent file, and the files of its parts. */
export interface WrittenList {
  readonly json: unknown;
  readonly parts: readonly Part[];
}

/** A list whose items `show` writes as JSON; without it they are written as they are. */
export function listOf<Value>(
  size: number,
  entries: Iterable<readonly [string, Value]>,
  show: (key: string, value: Value) => unknown = (_, value) => value,
): List {
  return new List(size, entries, show);
}

/** The lists in the value of a file, by the members that lead to them. */
export function* listsIn(value: unknown, path = ''): Generator<[path: string, List]> {
  if (value instanceof List) yield [path, value];
  else if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    for (const [name, member] of Object.entries(value)) yield* listsIn(member, `${path}/${name}`);
  }
}

/**
 * Writes a list. Files of `before` are used again where their items are the same values; `write` is told of the others.
 */
export function* splitList(
  list: List,
  before: WrittenList | undefined,
  write: (name: string, content: Buffer) => void,
): Steps<WrittenList> {
  if (list.size < FEW) return { json: list.toJSON(), parts: [] };
  const known = new Map(before?.parts.map((part) => [part.keys[0], part]));
  const parts: Part[] = [];
  let keys: string[] = [];
  let values: unknown[] = [];
  const close = function* (): Steps<void> {
    let part = known.get(keys[0]);
    yield keys.length * COMPARED;
    if (!part || !isSame(part.keys, keys) || !isSame(part.values, values)) {
      const shown = keys.map((key, at) => list.show(key, values[at] as never));
      const content = Buffer.from(`${JSON.stringify(shown)}\n`);
      part = { name: digestedName('list', content), keys, values };
      write(part.name, content);
      yield keys.length * WRITTEN;
    }
    parts.push(part);
    keys = [];
    values = [];
  };
  for (const [key, value] of list.entries) {
    keys.push(key);
    values.push(value);
    if (keys.length === MOST || endsFile(key)) yield* close();
  }
  if (keys.length > 0) yield* close();
  return { json: { lists: parts.map(({ name }) => name) }, parts };
}

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((value, at) => value === other[at]);
}

/** By the key alone, so that an item that comes or goes moves the bounds of its own file only. */
function endsFile(key: string): boolean {
  // FNV-1a (Fowler, Noll, Vo), 32 bits.
  let hash = 0x811c9dc5;
  for (let at = Math.max(0, key.length - 16); at < key.length; at++)
    hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return ((hash ^ (hash >>> 15)) >>> 0) % USUAL === 0;
}

/** Levels of members below which lists stand. */
const DEEPEST = 3;

/** Returns the value with its lists in place of their files; `named` is told of each file. Throws `SourceError`. */
export async function joinLists(
  value: unknown,
  tree: FileTree,
  folder: string,
  named: (path: string) => void = () => {},
  depth = 0,
): Promise<unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || depth > DEEPEST) return value;
  const members = Object.entries(value);
  const [first] = members;
  if (members.length === 1 && first![0] === 'lists' && isListOfNames(first![1])) {
    return readParts(first![1], tree, folder, named);
  }
  const joined: [string, unknown][] = [];
  for (const [name, member] of members) joined.push([name, await joinLists(member, tree, folder, named, depth + 1)]);
  return Object.fromEntries(joined);
}

function isListOfNames(value: unknown): value is string[] {
  if (!Array.isArray(value) || new Set(value).size < value.length) return false;
  return value.every((name) => typeof name === 'string' && digestIn('list', name) !== undefined);
}

async function readParts(
  names: readonly string[],
  tree: FileTree,
  folder: string,
  named: (path: string) => void,
): Promise<unknown[]> {
  const items: unknown[] = [];
  for (const name of names) {
    const path = folder + name;
    const list = await readJson(tree, path, digestIn('list', name));
    if (!Array.isArray(list)) throw new SourceError(`${tree.title} has a ${path} that is not a list in JSON.`);
    for (const item of list) items.push(item);
    named(path);
  }
  return items;
}
