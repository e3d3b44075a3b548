import { PIECE, PIECE_COST, runSync, type Steps } from '../../schedule/steps.js';
import { type ByteString, concatBytes, NO_BYTES, SLASH } from '../object/bytes.js';
import type { LinkReader } from '../object/link-reader.js';
import type { Oid } from '../object/object.js';
import { findEntry } from '../object/read-tree.js';
import { MODE_TREE } from '../object/tree.js';
import { NONE } from '../object/tree-cursor.js';
import { objectAt } from '../object/tree-entries.js';
import type { CommitGraph, GraphPosition } from './commit-graph.js';
import type { HistoryIndex } from './history-index.js';
import { LastTouchedWalk } from './last-touched-walk.js';
import { type PathId, type PathTable, ROOT } from './path-table.js';

/**
 * Returns the commit that last changed each file, symbolic link and submodule in the tree of a commit, by path. For
 * each path, `git log -1 -- <path>` shows this commit. The paths are in the order of Git's index.
 *
 * `tip` is the position of the commit whose tree is used. `under` limits the result to one file or folder; empty for
 * all paths.
 */
export function* lastModified(
  graph: CommitGraph,
  index: HistoryIndex,
  tip: GraphPosition,
  under: ByteString = NO_BYTES,
): Steps<Map<ByteString, Oid>> {
  const files = yield* listFiles(graph.objects, index.paths, graph.treeOf(tip), under);
  const touched = yield* new LastTouchedWalk(graph, index, tip, files.keys()).run();
  const found = new Map<ByteString, Oid>();
  const oids = new Map<GraphPosition, Oid>();
  for (const [path, text] of files) {
    if (found.size % PIECE === PIECE - 1) yield PIECE_COST;
    const position = touched[path]!;
    const oid = oids.get(position) ?? graph.oidOf(position);
    oids.set(position, oid);
    found.set(text, oid);
  }
  return found;
}

/**
 * Returns the commit that last changed each entry of a folder in the tree of a commit, by the name of the entry. For
 * each entry, `git log -1 -- <path>` shows this commit. Entries that no commit changed are omitted: these are folders
 * that never contained a file.
 *
 * `tip` is the position of the commit whose tree is used. `folder` is the path of the folder; empty for the root.
 */
export function* lastModifiedEntries(
  graph: CommitGraph,
  index: HistoryIndex,
  tip: GraphPosition,
  folder: ByteString,
): Steps<Map<ByteString, Oid>> {
  const { objects } = graph;
  const { paths } = index;
  const found = new Map<ByteString, Oid>();
  const root = graph.treeOf(tip);
  const top = root === NONE ? undefined : yield* findEntry(objects, objects.oidOf(root), folder);
  const tree = top?.mode === MODE_TREE ? objects.find(top.oid) : NONE;
  if (tree === NONE) return found;
  const entries = yield* objects.entriesOf(tree);
  const parent = paths.add(folder);
  const names = new Map<PathId, ByteString>();
  for (let at = 0; at < entries.length; at++) {
    if (at % PIECE === PIECE - 1) yield PIECE_COST;
    const name = entries.nameAt(at);
    names.set(paths.inside(parent, name), name);
  }
  const entryOf = entriesIn(paths, parent);
  const touched = yield* new LastTouchedWalk(graph, index, tip, names.keys(), entryOf).run();
  for (const [path, name] of names) {
    if (found.size % PIECE === PIECE - 1) yield PIECE_COST;
    const position = touched[path]!;
    if (position >= 0) found.set(name, graph.oidOf(position));
  }
  return found;
}

/**
 * Returns a function that maps a path to the entry of `folder` that is or contains the path; -1 if the path is outside.
 * The results are computed in one pass over the path table, because a folder has a smaller number than the paths in it.
 */
function entriesIn(paths: PathTable, folder: PathId): (path: PathId) => PathId {
  const entryOf: PathId[] = [-1];
  return (path) => {
    for (let next = entryOf.length; next <= path; next++) {
      const above = paths.folderOf(next);
      entryOf.push(above === folder ? next : entryOf[above]!);
    }
    return entryOf[path]!;
  };
}

/**
 * Returns the files at or below the path `under`. The keys are path numbers (numbers in `paths`); the values are the
 * paths.
 */
function* listFiles(
  objects: LinkReader,
  paths: PathTable,
  root: number,
  under: ByteString,
): Steps<Map<PathId, ByteString>> {
  const files = new Map<PathId, ByteString>();
  const top = root === NONE ? undefined : runSync(findEntry(objects, objects.oidOf(root), under));
  if (!top) return files;
  const folder = under === '' ? ROOT : paths.add(under);
  if (top.mode !== MODE_TREE) return files.set(folder, under);
  const tree = objects.find(top.oid);
  if (tree === NONE) return files;
  const base = under === '' ? NO_BYTES : concatBytes(under, SLASH);
  const stack = [{ entries: yield* objects.entriesOf(tree), next: 0, folder, base }];
  let work = 0;
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    const { entries, folder, base } = frame;
    if (++work % PIECE === 0) yield PIECE_COST;
    const index = frame.next++;
    if (index === entries.length) {
      stack.pop();
      continue;
    }
    const name = entries.nameAt(index);
    const path = paths.inside(folder, name);
    if (!entries.isTreeAt(index)) {
      files.set(path, concatBytes(base, name));
      continue;
    }
    const inner = objectAt(entries, index);
    if (inner === NONE) continue;
    stack.push({
      entries: yield* objects.entriesOf(inner),
      next: 0,
      folder: path,
      base: concatBytes(base, name, SLASH),
    });
  }
  return files;
}
