import { COST } from '../../schedule/cost.js';
import type { Meter } from '../../schedule/meter.js';
import { runYielding } from '../../schedule/steps.js';
import type { Change } from '../diff/change.js';
import { LineInterner, type Lines } from '../diff/line-interner.js';
import { diffInterned } from '../diff/lines.js';
import { detectRenames } from '../diff/renames.js';
import { diffTreeEntries } from '../diff/trees.js';
import type { ByteString } from '../object/bytes.js';
import type { LinkReader } from '../object/link-reader.js';
import { numberOf, type Oid } from '../object/object.js';
import { fileType, MODE_GITLINK, MODE_TREE } from '../object/tree.js';
import { NONE } from '../object/tree-cursor.js';
import type { CommitGraph, GraphPosition } from '../revwalk/commit-graph.js';
import { DateQueue } from '../revwalk/date-queue.js';
import { type BlameEntry, Origin } from './origin.js';
import { type Found, PathLookup } from './path-lookup.js';

/**
 * State of one blame, and the operations on it. It contains the origins (versions of a file in one commit) whose
 * suspected lines must still be examined. Corresponds to Git's `struct blame_scoreboard`.
 */
export class Scoreboard {
  readonly #interner = new LineInterner();
  readonly #origins = new Map<GraphPosition, Origin[]>();
  readonly #queue: DateQueue;
  #current: GraphPosition | undefined;
  readonly #lookups = new Map<ByteString, PathLookup>();

  constructor(
    readonly objects: LinkReader,
    readonly graph: CommitGraph,
    readonly meter: Meter,
  ) {
    this.#queue = new DateQueue(graph);
  }

  /**
   * Returns the next origin (version of a file) to examine; undefined if no suspected lines are left. The newest commit
   * with suspected lines comes first. All its origins are returned before those of the next commit.
   */
  next(): Origin | undefined {
    for (;;) {
      if (this.#current === undefined && this.#queue.size === 0) return undefined;
      this.#current ??= this.#queue.take();
      const origin = this.#origins.get(this.#current)?.find(({ suspects }) => suspects.length > 0);
      if (origin) return origin;
      this.#origins.delete(this.#current);
      this.#current = undefined;
    }
  }

  suspect(origin: Origin, entries: readonly BlameEntry[]): void {
    if (entries.length === 0) return;
    const origins = this.#origins.get(origin.commit);
    if (!origins?.includes(origin)) this.#origins.set(origin.commit, [origin, ...(origins ?? [])]);
    const isQueued = origins?.some(({ suspects }) => suspects.length > 0) ?? false;
    if (!isQueued) this.#queue.put(origin.commit);
    origin.suspect(entries);
  }

  /**
   * Passes all suspected lines of an origin to the oldest ancestor with an equal file, and returns the origin of that
   * ancestor. This is faster than comparing the file in every commit.
   *
   * The search stops at a commit with several parents. It also stops if the parent would not be examined next in any
   * case.
   */
  async passedDown(origin: Origin): Promise<Origin> {
    const { graph } = this;
    let { commit, mode } = origin;
    const isAlone = this.#origins.get(commit)?.every((other) => other === origin || other.suspects.length === 0);
    for (let steps = 1; isAlone && graph.parentCount(commit) === 1; steps++) {
      const parent = graph.parentOf(commit, 0);
      if (this.#origins.has(parent) || graph.committedAt(parent) <= (this.#queue.date ?? Number.NEGATIVE_INFINITY))
        break;
      const found = this.at(parent, origin.path);
      if (found?.object !== origin.blob || fileType(found.mode) !== fileType(mode)) break;
      commit = parent;
      mode = found.mode;
      this.meter.spend(COST.object);
      if (steps % 8 === 0 && this.meter.shouldYield) await this.meter.yieldToEventLoop();
    }
    if (commit === origin.commit) return origin;
    const older = new Origin(commit, origin.path, mode, origin.blob);
    older.suspects = origin.suspects;
    older.lines = origin.lines;
    origin.suspects = [];
    origin.lines = undefined;
    return older;
  }

  /**
   * Returns the origin for the file `path` of `commit`. If that file already has suspected lines, returns its existing
   * `Origin`.
   */
  origin(commit: GraphPosition, path: ByteString, mode: number, blob: number): Origin {
    return this.#known(commit, path) ?? new Origin(commit, path, mode, blob);
  }

  /**
   * Returns the parent's file at the path of the origin. Returns undefined if it is absent or has another type, such as
   * a symbolic link instead of a regular file.
   */
  samePath(origin: Origin, parent: GraphPosition): Origin | undefined {
    const known = this.#known(parent, origin.path);
    if (known) return known;
    const found = this.at(parent, origin.path);
    if (!found || !isFile(found.mode) || fileType(found.mode) !== fileType(origin.mode)) return undefined;
    return new Origin(parent, origin.path, found.mode, found.object);
  }

  /** Returns the parent's file that the commit renamed to the path of the origin; undefined if none. */
  async renamed(origin: Origin, parent: GraphPosition): Promise<Origin | undefined> {
    const found = this.at(parent, origin.path);
    if (found && found.mode !== MODE_TREE) return undefined;
    const changes = [];
    for (const change of diffTreeEntries(this.objects, this.treeOf(parent), this.treeOf(origin.commit))) {
      if (typeof change === 'number') this.meter.spend(change);
      else changes.push(change);
      if (this.meter.shouldYield) await this.meter.yieldToEventLoop();
    }
    const files = await detectRenames(this.objects, changes, { follow: origin.path, meter: this.meter });
    const rename = files.find(({ score, after }) => score !== undefined && after?.path === origin.path);
    const source = rename?.before;
    return source && this.origin(parent, source.path, source.mode, numberOf(this.objects, source.oid));
  }

  /** Returns the mode and the object at `path` in the tree of `commit`; undefined if absent. */
  at(commit: GraphPosition, path: ByteString): Found | undefined {
    return this.#lookup(path).in(this.graph.treeOf(commit));
  }

  /** Returns the object id of a commit's root tree; undefined if the tree is empty. */
  treeOf(commit: GraphPosition): Oid | undefined {
    const tree = this.graph.treeOf(commit);
    return tree === NONE ? undefined : this.objects.oidOf(tree);
  }

  #lookup(path: ByteString): PathLookup {
    let lookup = this.#lookups.get(path);
    if (!lookup) {
      lookup = new PathLookup(this.objects, path, this.meter);
      this.#lookups.set(path, lookup);
    }
    return lookup;
  }

  /**
   * Returns the lines of the origin's file, which is read on first use. `like` may be a similar file. Splitting is then
   * faster, because most lines are equal.
   */
  async linesOf(origin: Origin, like?: Lines): Promise<Lines> {
    origin.lines ??= await runYielding(this.#interner.split(this.objects.read(origin.blob), like), this.meter);
    return origin.lines;
  }

  compare(before: Lines, after: Lines): Promise<Change[]> {
    return runYielding(diffInterned(this.#interner, before, after, { trimTail: true }), this.meter);
  }

  #known(commit: GraphPosition, path: ByteString): Origin | undefined {
    return this.#origins.get(commit)?.find((origin) => origin.path === path);
  }
}

function isFile(mode: number): boolean {
  return mode !== MODE_TREE && mode !== MODE_GITLINK;
}
