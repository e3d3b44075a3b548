import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { type ByteString, joinBytes, NO_BYTES, splitBytes, textOf } from './bytes.js';
import { findEntries, replaceEntries } from './large-tree.js';
import { type ObjectReader, type Oid, TREE, type TypeCode } from './object.js';
import { readTreeBody } from './read-tree.js';
import { MODE_FILE, MODE_GITLINK, MODE_TREE, type TreeEntry } from './tree.js';

/** Number of edits that are processed before the generator yields again, so that other requests can run. */
const UNIT = 256;
const NO_BODY = Buffer.alloc(0);
const NO_CHILDREN: ReadonlyMap<ByteString, EditNode> = new Map();

/**
 * Store from which existing objects are read and to which new trees are written. It is implemented by a quarantine,
 * which holds new objects that are not yet visible.
 */
export interface ObjectDatabase extends ObjectReader {
  write(type: TypeCode, body: Buffer): Oid;
  /** Variant of `write` for a body that may be large and consist of several parts. Yields between pieces of work. */
  writeSteps(type: TypeCode, parts: readonly Buffer[]): Steps<Oid>;
}

/**
 * Change of one file in a tree: write or delete. Without `mode`, an existing file keeps its mode, and a new file gets
 * the mode 100644. The path must be valid; the caller checks it.
 */
export type TreeEdit =
  | { readonly path: ByteString; readonly mode?: number | undefined; readonly oid: Oid; readonly delete?: false }
  | { readonly path: ByteString; readonly delete: true };

/**
 * Reason why edits of a tree are refused. Either two edits name the same path, or a path would be both a file and a
 * folder.
 */
export type EditIssue = 'duplicate' | 'file-in-the-way' | 'folder-in-the-way';

const ISSUE_TEXTS: Readonly<Record<EditIssue, string>> = {
  duplicate: 'is named by two operations',
  'file-in-the-way': 'is a file and cannot be a folder too',
  'folder-in-the-way': 'is a folder and cannot be a file too',
};

export class EditConflict extends Error {
  override readonly name = 'EditConflict';
  constructor(
    readonly issue: EditIssue,
    readonly path: ByteString,
  ) {
    super(`${textOf(path)} ${ISSUE_TEXTS[issue]}`);
  }
}

interface Upsert {
  readonly mode: number | undefined;
  readonly oid: Oid;
}

/**
 * Node of a trie (prefix tree) of the paths to edit. Each node stands for one path segment. It contains the edit of the
 * path that ends at this segment, and child nodes for longer paths.
 */
interface EditNode {
  readonly name: ByteString;
  upsert?: Upsert;
  isDeleted?: boolean;
  /** True if an edit writes a file at a path inside this one. This path must then be a folder. */
  writesBelow?: boolean;
  children?: Map<ByteString, EditNode>;
}

/** Folder of the tree whose entries are currently being edited. */
interface Folder {
  readonly node: EditNode;
  /** Body of the folder's tree object before the edits. */
  readonly body: Buffer;
  /** Entries of the folder whose names occur in the edits, with the changes made so far. */
  readonly entries: Map<ByteString, TreeEntry>;
  readonly pending: Iterator<EditNode>;
  isChanged: boolean;
}

/**
 * Applies edits to the tree `base` and returns the id of the new tree.
 *
 * Deletions are applied before writes, whatever the order of `edits`. A deletion removes a file or a whole folder. It
 * does nothing if the path does not exist, as in `git fast-import`. Folders that become empty are removed.
 *
 * Only the folders on edited paths are read and written. Yields between pieces of work, so that other requests can run.
 * Throws `EditConflict` if the edits contradict each other or the tree.
 */
export function* applyEdits(objects: ObjectDatabase, base: Oid, edits: Iterable<TreeEdit>): Steps<Oid> {
  const root = yield* openFolder(objects, yield* planEdits(edits), base);
  const stack: Folder[] = [root];
  for (let nodes = 1; ; nodes++) {
    if (nodes % UNIT === 0) yield UNIT * COST.entry;
    const folder = stack.at(-1)!;
    const { value: node, done } = folder.pending.next();
    if (!done) {
      const below = yield* editEntry(objects, stack, folder, node);
      if (below) stack.push(below);
      continue;
    }
    stack.pop();
    const parent = stack.at(-1);
    if (!parent) break;
    yield* closeFolder(objects, folder, parent);
    if (folder.node.upsert) placeFile(stack, parent, folder.node.name, folder.node.upsert);
  }
  return root.isChanged ? yield* objects.writeSteps(TREE, yield* editedBody(root)) : base;
}

function* planEdits(edits: Iterable<TreeEdit>): Steps<EditNode> {
  const root: EditNode = { name: NO_BYTES };
  let planned = 0;
  for (const edit of edits) {
    if (++planned % UNIT === 0) yield UNIT * COST.entry;
    let node = root;
    for (const name of splitBytes(edit.path, '/')) {
      if (!edit.delete) node.writesBelow = true;
      node = childOf(node, name);
    }
    if (node.upsert || node.isDeleted) throw new EditConflict('duplicate', edit.path);
    if (edit.delete) node.isDeleted = true;
    else node.upsert = { mode: edit.mode, oid: edit.oid };
  }
  return root;
}

function childOf(node: EditNode, name: ByteString): EditNode {
  node.children ??= new Map();
  const known = node.children.get(name);
  if (known) return known;
  const child: EditNode = { name };
  node.children.set(name, child);
  return child;
}

function* openFolder(objects: ObjectReader, node: EditNode, tree: Oid | undefined): Steps<Folder> {
  const stored = tree === undefined ? NO_BODY : yield* readTreeBody(objects, tree);
  const names = node.children ?? NO_CHILDREN;
  const { body, found } = yield* findEntries(stored, names);
  return { node, body, entries: found, pending: names.values(), isChanged: false };
}

function editedBody({ node, body, entries }: Folder): Steps<Buffer[]> {
  return replaceEntries(body, node.children ?? NO_CHILDREN, entries.values());
}

/**
 * Applies the edits of one entry of `folder`, and starts the edits inside it. Returns the subfolder to edit next;
 * undefined if absent.
 */
function* editEntry(objects: ObjectReader, stack: Folder[], folder: Folder, node: EditNode): Steps<Folder | undefined> {
  if (node.isDeleted && folder.entries.delete(node.name)) folder.isChanged = true;
  const entry = folder.entries.get(node.name);
  if (node.upsert && node.writesBelow) throw new EditConflict('file-in-the-way', pathOf(stack, node));
  if (node.children && entry?.mode === MODE_TREE) return yield* openFolder(objects, node, entry.oid);
  if (node.writesBelow) {
    if (entry) throw new EditConflict('file-in-the-way', pathOf(stack, node));
    return yield* openFolder(objects, node, undefined);
  }
  if (node.upsert) placeFile(stack, folder, node.name, node.upsert);
  return undefined;
}

function placeFile(stack: Folder[], folder: Folder, name: ByteString, upsert: Upsert): void {
  const entry = folder.entries.get(name);
  if (entry?.mode === MODE_TREE) throw new EditConflict('folder-in-the-way', pathOf(stack, { name }));
  const kept = entry?.mode === MODE_GITLINK ? MODE_FILE : entry?.mode;
  const mode = upsert.mode ?? kept ?? MODE_FILE;
  if (entry?.mode === mode && entry.oid === upsert.oid) return;
  folder.entries.set(name, { name, mode, oid: upsert.oid });
  folder.isChanged = true;
}

/**
 * Writes the tree object of an edited folder and updates its entry in the parent folder. Removes the entry if the
 * folder is empty.
 */
function* closeFolder(objects: ObjectDatabase, folder: Folder, parent: Folder): Steps<void> {
  if (!folder.isChanged) return;
  parent.isChanged = true;
  const { name } = folder.node;
  const parts = yield* editedBody(folder);
  if (parts.length === 0) parent.entries.delete(name);
  else {
    const oid = yield* objects.writeSteps(TREE, parts);
    parent.entries.set(name, { name, mode: MODE_TREE, oid });
  }
}

function pathOf(stack: Folder[], { name }: EditNode): ByteString {
  return joinBytes([...stack.slice(1).map(({ node }) => node.name), name], '/');
}
