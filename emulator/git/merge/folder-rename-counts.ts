import { type ByteString, NO_BYTES } from '../object/bytes.js';
import { folderOf, nameOf } from '../object/path.js';
import type { FolderRelevance } from './collect-merge-info.js';
import { inHashOrder } from './hash-order.js';

/**
 * Counts the files that one side of a merge renamed from each removed folder to each other folder. The folder that
 * received the most files counts as the new path of the removed folder.
 */
export class FolderRenameCounts {
  readonly #counts = new Map<ByteString, Map<ByteString, number>>();
  /**
   * Number of deleted files whose new path is not known yet, by folder. A file counts for its own folder and for the
   * relevant folders that contain it.
   */
  readonly #open = new Map<ByteString, number>();

  constructor(private readonly removed: Map<ByteString, FolderRelevance>) {}

  /**
   * Counts a renamed file for its folder. It also counts for each containing folder, as long as the last names of the
   * old and the new folder are equal.
   *
   * For example, a rename of `a/b/c/x` to `a/d/c/x` shows that `a/b/c` became `a/d/c`, and that `a/b` became `a/d`.
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

  /**
   * Returns the probable new path of each removed folder. This is the folder to which most of its files were renamed so
   * far.
   */
  guesses(): Map<ByteString, ByteString> {
    const guesses = new Map<ByteString, ByteString>();
    for (const [folder, targets] of this.#counts) guesses.set(folder, mostFrequent(targets).target);
    return guesses;
  }

  /**
   * Returns the new path of each removed folder that is relevant for the merge. This is the folder to which most of its
   * files were renamed; undefined if two folders got equally many files.
   */
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
   * Finds the removed folders whose new path can no longer change, and marks them as known. `sources` are the deleted
   * files whose new path is not known yet.
   *
   * A folder's new path cannot change if it stays the most frequent one even when all these files are renamed to the
   * second most frequent folder (merge-ort's `handle_early_known_dir_renames`).
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
  let max = 0;
  let isTie = false;
  for (const candidate of inHashOrder(targets.keys())) {
    const count = targets.get(candidate)!;
    if (count === max) isTie = true;
    if (count <= max) continue;
    [target, max, isTie] = [candidate, count, false];
  }
  return { target, isTie };
}
