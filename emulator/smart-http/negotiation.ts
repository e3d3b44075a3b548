import { COMMIT, type Oid } from '../git/object/object.js';
import { peelToCommit } from '../git/object/tag.js';
import type { GitRepository } from '../git/repository/repository.js';
import { Meter } from '../git/schedule/meter.js';

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
      this.#known.add(oid);
      for (const parent of history.commit(oid).parents) this.#known.add(parent);
    }
    this.common.add(oid);
    return true;
  }

  /** Whether every wanted commit has an ancestor that the client is known to have. */
  async isReady(): Promise<boolean> {
    if (!this.#ready && this.common.size > this.#commonWhenAsked) {
      this.#commonWhenAsked = this.common.size;
      this.#ready = await this.#allWantsReachCommon();
    }
    return this.#ready;
  }

  /**
   * `isReady` for one `have` among many: the answer no is repeated until twice as much is in common,
   * so that a request with many haves does not walk the history once for each.
   */
  async isReadyRoughly(): Promise<boolean> {
    return this.common.size >= 2 * this.#commonWhenAsked ? this.isReady() : this.#ready;
  }

  async #allWantsReachCommon(): Promise<boolean> {
    if (this.common.size === 0) return false;
    const { objects, history } = this.#repository;
    // Ancestry says nothing about trees and blobs: they do not keep the negotiation going.
    const commits = Array.from(this.#wants, (want) => peelToCommit(objects, want)).filter((oid) => oid !== undefined);
    return history.allReach(commits, this.#known, new Meter({ schedule: objects.schedule }));
  }
}
