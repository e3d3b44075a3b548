import type { Steps } from '../schedule/steps.js';
import { type FileTree, SourceError } from '../sources/file-tree.js';
import { digestedName, digestIn, readJson } from './read-json.js';

/*
 * Splits the long lists of the JSON files in a `--persist` folder (in which the emulator saves its state) into files of
 * their own, so that a save writes only changed parts.
 *
 * In the JSON file, `{"lists": [NAME, …]}` stands for the list. The list is the concatenation of the JSON arrays in the
 * named files. These files are in the same folder, and are named after the SHA-1 of their content.
 */

/** Minimum number of items of a list that gets files of its own. A shorter list stays in its parent file. */
const FEW = 256;
/**
 * Parameters of content-defined chunking, which divides a list into files by the keys of its items. On average, one in
 * `USUAL` items ends a file, depending on the hash of its key. `MOST` is the maximum number of items in a file.
 */
const USUAL = 128;
const MOST = 1024;
/**
 * Cost of comparing and of writing one item, in the meter's units of work. The meter says when to yield to the event
 * loop.
 */
const COMPARED = 1 / 8;
const WRITTEN = 2;

/** List inside a JSON value to be saved. Its items are immutable and have unique keys. */
export class List {
  /**
   * JSON value that stands for the list in its parent file, once the list was written to files of its own. Undefined if
   * the parent file contains the list itself.
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

/** File with a part of a list, and the keys and values of the items in it. */
interface Part {
  readonly name: string;
  readonly keys: readonly string[];
  readonly values: readonly unknown[];
}

/** List that was written. `json` stands for the list in its parent file; `parts` are the files with its items. */
export interface WrittenList {
  readonly json: unknown;
  readonly parts: readonly Part[];
}

/**
 * Creates a list that a save can split into files. `show` converts an item to JSON; by default, items are written
 * unchanged.
 */
export function listOf<Value>(
  size: number,
  entries: Iterable<readonly [string, Value]>,
  show: (key: string, value: Value) => unknown = (_, value) => value,
): List {
  return new List(size, entries, show);
}

/** Yields every `List` in a JSON value, with its path of member names, such as `/world/searches`. */
export function* listsIn(value: unknown, path = ''): Generator<[path: string, List]> {
  if (value instanceof List) yield [path, value];
  else if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    for (const [name, member] of Object.entries(value)) yield* listsIn(member, `${path}/${name}`);
  }
}

/**
 * Divides a list into files. Reuses files of the previous save (`before`) that have the same keys and identical values.
 * Calls `write` for every other file. Yields the cost of the work.
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
 * Returns true if the item with this key is the last of its file. The result depends only on the key. Inserting or
 * removing an item therefore changes only its own file, and at most a neighboring one.
 */
function endsFile(key: string): boolean {
  // 32-bit FNV-1a hash (Fowler, Noll and Vo) of the last 16 characters.
  let hash = 0x811c9dc5;
  for (let at = Math.max(0, key.length - 16); at < key.length; at++)
    hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return ((hash ^ (hash >>> 15)) >>> 0) % USUAL === 0;
}

/** Maximum nesting depth of a list in a JSON value. */
const DEEPEST = 3;

/**
 * Returns a JSON value in which each `{"lists": [NAME, …]}` is replaced by its list, which is read from the named files
 * in `folder`. Calls `named` with the path of each file. Throws `SourceError` if a file is missing or invalid.
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
