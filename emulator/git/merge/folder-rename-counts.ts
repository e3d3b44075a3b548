import { type ByteString, NO_BYTES } from '../object/bytes.js';
import { folderOf, nameOf } from '../object/path.js';
import type { FolderRelevance } from './collect-merge-info.js';
import { inHashOrder } from './hash-order.js';

/** How many files of each removed folder went to which folder. */
export class FolderRenameCounts {
  readonly #counts = new Map<ByteString, Map<ByteString, number>>();
  /** Files not found yet, by folder. */
  readonly #open = new Map<ByteString, number>();

  constructor(private readonly removed: Map<ByteString, FolderRelevance>) {}

  /**
   * Counts a renamed file: for its folder, and for those around it as far up as both paths end alike.
   * `a/b/c/x` to `a/d/c/x` says that `a/b/c` became `a/d/c` and `a/b` became `a/d`.
   */
  add(oldPath: ByteString, newPath: ByteString): void {
    let oldFolder = folderOf(oldPath);
    let newFolder = folderOf(newPath);
    for (let isFirst = true; ; isFirst = false) {
      const relevance = this.removed.get(oldFolder);
      if (relevance === undefined) return;
      if (relevance === 'self' || isFirst) this.#increment(oldFolder, newFolder);
      if (relevance === 'none' || oldFolder === '' || newFolder === '') return;
      if (nameOf(oldFolder) !== nameOf(newFolder)) return;
      oldFolder = folderOf(oldFolder);
      newFolder = folderOf(newFolder);
    }
  }

  #increment(oldFolder: ByteString, newFolder: ByteString): void {
    const targets = this.#counts.get(oldFolder) ?? new Map<ByteString, number>();
    targets.set(newFolder, (targets.get(newFolder) ?? 0) + 1);
    this.#counts.set(oldFolder, targets);
  }

  /** Where most files of each folder went so far. */
  guesses(): Map<ByteString, ByteString> {
    const guesses = new Map<ByteString, ByteString>();
    for (const [folder, targets] of this.#counts) guesses.set(folder, mostFrequent(targets).target);
    return guesses;
  }

  /** Where each folder went that matters: where most of its files did. A tie is `undefined`. */
  renames(): Map<ByteString, ByteString | undefined> {
    const renames = new Map<ByteString, ByteString | undefined>();
    for (const [folder, targets] of this.#counts) {
      if (!this.#isRelevant(folder)) continue;
      const { target, isTie } = mostFrequent(targets);
      renames.set(folder, isTie ? undefined : target);
    }
    return renames;
  }

  /**
   * Marks folders whose majority no further renames of `sources` could change as known, as merge-ort's
   * `handle_early_known_dir_renames`.
   */
  resolveEarly(sources: readonly ByteString[]): void {
    for (const source of sources) {
      for (let folder = folderOf(source); folder !== '' && this.#isRelevant(folder); folder = folderOf(folder)) {
        this.#open.set(folder, (this.#open.get(folder) ?? 0) + 1);
      }
    }
    for (const [folder, targets] of this.#counts) {
      const [first = 0, second = 0] = [...targets.values()].sort((a, b) => b - a);
      const isKnown = first > second + (this.#open.get(folder) ?? 0);
      if (isKnown && this.removed.get(folder) === 'self') this.removed.set(folder, 'ancestor');
    }
  }

  #isRelevant(folder: ByteString): boolean {
    return (this.removed.get(folder) ?? 'none') !== 'none';
  }
}

function mostFrequent(targets: Map<ByteString, number>): { target: ByteString; isTie: boolean } {
  let target = NO_BYTES;
  let most = 0;
  let isTie = false;
  for (const candidate of inHashOrder(targets.keys())) {
    const count = targets.get(candidate)!;
    if (count === most) isTie = true;
    if (count <= most) continue;
    [target, most, isTie] = [candidate, count, false];
  }
  return { target, isTie };
}
