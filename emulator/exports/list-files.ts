import type { Steps } from '../schedule/steps.js';
import { type FileTree, SourceError } from '../sources/file-tree.js';
import { digestedName, digestIn, readJson } from './read-json.js';

/*
 * Long lists of the JSON files in a `--persist` folder (in which the emulator saves its state) are split into files of
 * their own, so that a save writes only changed parts. The value `{"lists": [NAME, …]}` replaces the list, which is the
 * concatenation of the JSON arrays in these files. A file is named by the SHA-1 of its content. It is in the same
 * folder as the file that names it.
 */

/** Number of items from which a list is written to files of its own. A shorter list stays in its parent file. */
const FEW = 256;
/**
 * Content-defined chunking, which divides a list into files by the keys of its items. On average one in `USUAL` items,
 * chosen by the hash of its key, is the last of its file. `MOST`: maximum number of items of a file.
 */
const USUAL = 128;
const MOST = 1024;
/**
 * Cost of comparing and of writing one item, in the units in which a meter counts work before it yields to the event
 * loop.
 */
const COMPARED = 1 / 8;
const WRITTEN = 2;

/** List in a JSON value that is to be saved. Its items are immutable and have unique keys. */
export class List {
  /**
   * JSON value that replaces the list in its parent file after the list was written to its own files; undefined if the
   * list itself is in the parent file.
   */
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

/** One of the files to which a list was written, with the keys and values of the items in it. */
interface Part {
  readonly name: string;
  readonly keys: readonly string[];
  readonly values: readonly unknown[];
}

/**
 * List after it was written: the JSON value that represents the list in its parent file, and the files of its parts.
 */
export interface WrittenList {
  readonly json: unknown;
  readonly parts: readonly Part[];
}

/**
 * Creates a list that a save can write to files of its own. `show` converts an item to JSON; by default items are
 * written unchanged.
 */
export function listOf<Value>(
  size: number,
  entries: Iterable<readonly [string, Value]>,
  show: (key: string, value: Value) => unknown = (_, value) => value,
): List {
  return new List(size, entries, show);
}

/** Yields the `List` objects in a JSON value, each with its path of member names, such as `/world/searches`. */
export function* listsIn(value: unknown, path = ''): Generator<[path: string, List]> {
  if (value instanceof List) yield [path, value];
  else if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    for (const [name, member] of Object.entries(value)) yield* listsIn(member, `${path}/${name}`);
  }
}

/**
 * Divides a list into files. Reuses the files of the previous save (`before`) that have the same keys and identical
 * values. Calls `write` for each other file. Yields the cost of the work.
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

/**
 * Returns true if the item with this key is the last of its file. The result depends only on the key, so that inserting
 * or removing an item changes only the file that contains it, and at most its neighbor.
 */
function endsFile(key: string): boolean {
  // FNV-1a (hash function of Fowler, Noll and Vo) with 32 bits, of the last 16 characters.
  let hash = 0x811c9dc5;
  for (let at = Math.max(0, key.length - 16); at < key.length; at++)
    hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return ((hash ^ (hash >>> 15)) >>> 0) % USUAL === 0;
}

/** Maximum nesting depth in a JSON value at which a list can be. */
const DEEPEST = 3;

/**
 * Returns a JSON value in which each `{"lists": [NAME, …]}` is replaced by the list, read from these files in `folder`.
 * Calls `named` with the path of each file. Throws `SourceError`.
 */
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
    if (!Array.isArray(list)) throw new SourceError(`${tree.title}: the file ${path} must contain a JSON array.`);
    for (const item of list) items.push(item);
    named(path);
  }
  return items;
}
