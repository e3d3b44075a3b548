import type { Meter } from '../../schedule/meter.js';
import { type ByteString, bytesOf } from '../object/bytes.js';
import { EMPTY_TREE_OID, type Oid } from '../object/object.js';
import type { ObjectDatabase } from '../object/tree-edit.js';
import type { History } from '../revwalk/history.js';
import { mergeTrees, type TreeMerge } from './merge-trees.js';

export interface MergeOptions {
  readonly meter: Meter;
  /**
   * Labels of the two sides, usually the branch names. Conflict markers contain them. If a conflict forces a file to be
   * moved, its new name contains the label too.
   */
  readonly ours: ByteString;
  readonly theirs: ByteString;
}

export interface CommitMerge extends TreeMerge {
  /** Best common ancestors of the two commits, newest first. Empty for unrelated histories. */
  readonly bases: readonly Oid[];
}

/** Labels of the two sides while several merge bases are merged into one. Git uses the same labels. */
const TEMPORARY_OURS = bytesOf('Temporary merge branch 1');
const TEMPORARY_THEIRS = bytesOf('Temporary merge branch 2');

/**
 * Merge base: a commit, or a virtual commit made by merging several merge bases. `commits` are the commits that it
 * stands for.
 */
interface Ancestor {
  readonly key: string;
  readonly tree: Oid;
  readonly commits: readonly Oid[];
}

/**
 * Merges two commits as `git merge-tree --write-tree --allow-unrelated-histories` does. The trees and blobs of the
 * result are written to `objects`, but no commit.
 *
 * Several merge bases are first merged into one base, which may contain conflict markers. The trees and blobs of this
 * base are written too. Without a merge base, the base is the empty tree.
 *
 * Throws `WorkLimitExceeded`, the abort reason of the meter's signal, or `MissingObject`.
 */
export async function mergeCommits(
  objects: ObjectDatabase,
  history: History,
  ours: Oid,
  theirs: Oid,
  options: MergeOptions,
): Promise<CommitMerge> {
  const merger = new Merger(objects, history, options.meter);
  const [ourCommit, theirCommit] = [merger.ancestor(ours), merger.ancestor(theirs)];
  const bases = merger.bases(ourCommit, theirCommit);
  const base = await merger.combine(bases, 1);
  const trees = [base, ourCommit.tree, theirCommit.tree] as const;
  const { meter } = merger;
  const context = { objects, meter, ours: options.ours, theirs: options.theirs, depth: 0 };
  return { ...(await mergeTrees(context, [...trees])), bases };
}

class Merger {
  /**
   * Cache of the trees made by merging several merge bases, by key. Histories that cross repeatedly need such a merge
   * several times.
   */
  readonly #known = new Map<string, Oid>();

  constructor(
    private readonly objects: ObjectDatabase,
    private readonly history: History,
    readonly meter: Meter,
  ) {}

  ancestor(oid: Oid): Ancestor {
    return { key: oid, tree: this.history.commit(oid).tree, commits: [oid] };
  }

  /** Returns the best common ancestors of two commits or virtual commits, newest first. */
  bases(a: Ancestor, b: Ancestor): Oid[] {
    const { history } = this;
    if (a.commits.length === 1 && b.commits.length === 1) return history.mergeBases(a.commits[0]!, b.commits[0]!);
    const common = new Set<Oid>();
    for (const left of a.commits) {
      for (const right of b.commits) for (const base of history.mergeBases(left, right)) common.add(base);
    }
    const all = [...common];
    const best = all.filter((base) => !all.some((other) => other !== base && history.isAncestor(base, other)));
    return best.sort((x, y) => history.commit(y).committedAt - history.commit(x).committedAt);
  }

  /**
   * Returns the tree of the merge base. Several bases are merged one after the other, starting with the oldest. Without
   * a base, returns the empty tree.
   */
  async combine(bases: readonly Oid[], depth: number): Promise<Oid> {
    const [oldest, ...rest] = [...bases].reverse().map((oid) => this.ancestor(oid));
    if (oldest === undefined) return EMPTY_TREE_OID;
    let merged: Ancestor = oldest;
    for (const next of rest) {
      const key = `(${merged.key} ${next.key}) ${depth}`;
      const tree: Oid = this.#known.get(key) ?? (await this.#mergeBases(merged, next, depth));
      this.#known.set(key, tree);
      merged = { key, tree, commits: [...merged.commits, ...next.commits] };
    }
    return merged.tree;
  }

  async #mergeBases(ours: Ancestor, theirs: Ancestor, depth: number): Promise<Oid> {
    // Each level of a nested merge yields to the event loop. This also keeps the call stack short at any nesting depth.
    await this.meter.yieldToEventLoop();
    const base = await this.combine(this.bases(ours, theirs), depth + 1);
    const context = {
      objects: this.objects,
      meter: this.meter,
      ours: TEMPORARY_OURS,
      theirs: TEMPORARY_THEIRS,
      depth,
    };
    return (await mergeTrees(context, [base, ours.tree, theirs.tree])).tree;
  }
}
