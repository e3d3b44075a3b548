import { MalformedObject } from '../git/malformed-object.js';
import { COMMIT, MissingObject, type Oid } from '../git/object.js';
import type { GitRepository } from '../git/repository.js';
import { peelToCommit } from '../git/tag.js';

/**
 * What client and server were found to have in common.
 *
 * The client names commits it has, newest first. As soon as every wanted commit leads back to one of
 * them, more names cannot make the pack much smaller: the server is ready.
 */
export class Negotiation {
  /** The `have`s that are here, in order of arrival. */
  readonly common = new Set<Oid>();
  readonly #repository: GitRepository;
  readonly #wants: Iterable<Oid>;
  /** The common commits and their parents, which the client has as well. */
  readonly #known = new Set<Oid>();
  #oldest = Number.POSITIVE_INFINITY;
  #commonWhenAsked = 0;
  #ready = false;

  constructor(repository: GitRepository, wants: Iterable<Oid>) {
    this.#repository = repository;
    this.#wants = wants;
  }

  /** Notes a `have`; false when the object is not here. */
  add(oid: Oid): boolean {
    const { objects, history } = this.#repository;
    const number = objects.find(oid);
    if (number < 0) return false;
    if (this.common.has(oid)) return true;
    if (objects.typeOf(number) === COMMIT) {
      const commit = unlessBroken(() => history.commit(oid));
      // A push can leave a commit here without its history: that is no common ground.
      if (!commit) return false;
      this.#known.add(oid);
      for (const parent of commit.parents) this.#known.add(parent);
      this.#oldest = Math.min(this.#oldest, commit.committedAt);
    }
    this.common.add(oid);
    return true;
  }

  /** Whether every wanted commit has an ancestor that the client is known to have. */
  isReady(): boolean {
    if (!this.#ready && this.common.size > this.#commonWhenAsked) {
      this.#commonWhenAsked = this.common.size;
      this.#ready = this.#allWantsReachCommon();
    }
    return this.#ready;
  }

  /**
   * `isReady` for one `have` among many: the answer no is repeated until twice as much is in common,
   * so that a request with many haves does not walk the history once for each.
   */
  isReadyRoughly(): boolean {
    return this.common.size >= 2 * this.#commonWhenAsked ? this.isReady() : this.#ready;
  }

  #allWantsReachCommon(): boolean {
    if (this.common.size === 0) return false;
    const reaching = new Map<Oid, boolean>();
    for (const want of this.#wants) {
      const commit = unlessBroken(() => peelToCommit(this.#repository.objects, want));
      // Ancestry says nothing about trees and blobs: they do not keep the negotiation going.
      if (commit !== undefined && !this.#reaches(commit, reaching)) return false;
    }
    return true;
  }

  /** Depth-first and without recursion; every commit is visited once for all wants together. */
  #reaches(start: Oid, reaching: Map<Oid, boolean>): boolean {
    const path: { readonly oid: Oid; readonly parents: readonly Oid[]; next: number }[] = [];
    const enter = (oid: Oid): boolean => {
      if (this.#known.has(oid) || reaching.get(oid)) return true;
      if (reaching.has(oid)) return false;
      const { parents, committedAt } = this.#repository.history.commit(oid);
      reaching.set(oid, false);
      if (committedAt >= this.#oldest) path.push({ oid, parents, next: 0 });
      return false;
    };
    let found = enter(start);
    while (!found && path.length > 0) {
      const top = path.at(-1)!;
      if (top.next === top.parents.length) path.pop();
      else found = enter(top.parents[top.next++]!);
    }
    if (found) for (const { oid } of path) reaching.set(oid, true);
    return found;
  }
}

function unlessBroken<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof MissingObject || error instanceof MalformedObject) return undefined;
    throw error;
  }
}
