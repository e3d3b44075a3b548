import { withRoom } from '../memory/growable.js';
import type { ByteString } from '../object/bytes.js';
import { EMPTY_TREE_OID, type ObjectReader } from '../object/object.js';
import { canonicalMode } from '../object/tree.js';
import { NONE, TreeCursor } from '../object/tree-cursor.js';
import type { CommitGraph, GraphPosition } from './commit-graph.js';
import type { HistoryIndex } from './history-index.js';

/** Compares what commits have at one path, a file or a folder: by the history index where it can, else by their trees. */
export class PathComparison {
  readonly #names: readonly Buffer[];
  readonly #paths: PathCover;

  constructor(
    readonly graph: CommitGraph,
    readonly index: HistoryIndex,
    path: ByteString,
  ) {
    this.#names = path === '' ? [] : path.split('/').map((name) => Buffer.from(name, 'latin1'));
    this.#paths = new PathCover(index, path);
  }

  exists(position: GraphPosition): boolean {
    return !this.#isSameInTrees(this.graph.treeOf(position), NONE);
  }

  /** Whether a commit and its `nth` parent have the same. */
  isSame(position: GraphPosition, parent: GraphPosition, nth: number): boolean {
    if (nth === 0 && this.index.has(position)) return !this.#paths.hasAny(this.index.changedBy(position));
    return this.#isSameInTrees(this.graph.treeOf(position), this.graph.treeOf(parent));
  }

  #isSameInTrees(left: number, right: number): boolean {
    const { objects } = this.graph;
    const last = this.#names.length - 1;
    for (let at = 0; at <= last && left !== right; at++) {
      const a = findEntry(objects, left, this.#names[at]!);
      const b = findEntry(objects, right, this.#names[at]!);
      if (at === last) return contentOf(a) === contentOf(b);
      left = a?.isTree ? a.object(objects) : NONE;
      right = b?.isTree ? b.object(objects) : NONE;
    }
    return left === right;
  }
}

/** The paths of a history index that lie at or inside one path. */
class PathCover {
  /** By path number; as far as `#known`. */
  #isInside = new Uint8Array(64);
  #known = 0;

  constructor(
    readonly index: HistoryIndex,
    readonly path: ByteString,
  ) {}

  hasAny(paths: Int32Array): boolean {
    if (this.#known < this.index.paths.size) this.#learn();
    for (const path of paths) if (this.#isInside[path] === 1) return true;
    return false;
  }

  /** Folders have smaller numbers than what they hold, so one pass is enough. */
  #learn(): void {
    const { paths } = this.index;
    const top = paths.find(this.path);
    this.#isInside = withRoom(this.#isInside, paths.size);
    for (let path = this.#known; path < paths.size; path++) {
      const isInside = path === top || (path > 0 && this.#isInside[paths.folderOf(path)] === 1);
      this.#isInside[path] = isInside ? 1 : 0;
    }
    this.#known = paths.size;
  }
}

function findEntry(objects: ObjectReader, tree: number, name: Buffer): TreeCursor | undefined {
  if (tree === NONE) return undefined;
  const entry = new TreeCursor(objects.read(tree));
  return entry.find(name) ? entry : undefined;
}

/** Mode and id; nothing for a folder without content, which Git's comparison does not see. */
function contentOf(entry: TreeCursor | undefined): string {
  if (!entry) return '';
  const { oid } = entry;
  return oid === EMPTY_TREE_OID ? '' : `${canonicalMode(entry.mode)} ${oid}`;
}
