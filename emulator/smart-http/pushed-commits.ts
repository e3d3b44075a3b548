import { type FileBytes, type FileContent, readContents } from '../faults/file-contents.js';
import { diffTreeEntries, TooManyChanges } from '../git/diff/trees.js';
import { indexPack } from '../git/index-pack/index-pack.js';
import { textOf } from '../git/object/bytes.js';
import { readCommit } from '../git/object/commit.js';
import { BLOB, MissingObject, type Oid } from '../git/object/object.js';
import type { Quarantine } from '../git/odb/quarantine.js';
import { ObjectTooLarge, PackError } from '../git/pack/pack-error.js';
import { newCommits } from '../git/repository/forced-update.js';
import type { GitRepository } from '../git/repository/repository.js';
import { StoreFull } from '../memory/memory-budget.js';
import { COST } from '../schedule/cost.js';
import { Meter } from '../schedule/meter.js';
import { runYielding, type Steps } from '../schedule/steps.js';
import type { PackSpool } from './pack-spool.js';

/** Facts about the new commits of a push, for conditions of faults. */
interface PushedCommits {
  /** Paths of files that differ between a new commit and its first parent, each path once. */
  readonly paths: readonly string[];
  /** Messages of the new commits, without line feeds at their ends. */
  readonly messages: readonly string[];
  /** Contents of the files that the new commits add or change. Empty unless they were asked for. */
  readonly contents: readonly FileContent[];
}

/** Facts about a push without new commits. */
export const NO_COMMITS: PushedCommits = { paths: [], messages: [], contents: [] };

/**
 * Reads the commits that a push adds to the repository. `tips` are the objects to which the pushed refs point. Skips
 * commits whose objects are incomplete, because the push is then refused.
 */
function* readPushedCommits(objects: Quarantine, tips: readonly Oid[], withContents: boolean): Steps<PushedCommits> {
  const paths = new Set<string>();
  const files = new Map<string, File>();
  const messages: string[] = [];
  const commits = new Set(tips.flatMap((tip) => newCommits(objects, tip).added));
  for (const oid of commits) {
    try {
      const { tree, parents, message } = readCommit(objects, oid);
      messages.push(message.replace(/\n+$/, ''));
      const [parent] = parents;
      const before = parent === undefined ? undefined : readCommit(objects, parent).tree;
      for (const change of diffTreeEntries(objects, before, tree)) {
        if (typeof change === 'number') yield change;
        else {
          for (const entry of [change.before, change.after]) if (entry) paths.add(textOf(entry.path));
          if (withContents && change.after) {
            const { path, oid } = change.after;
            files.set(`${oid} ${path}`, { path: textOf(path), oid });
          }
        }
      }
    } catch (error) {
      if (!(error instanceof MissingObject) && !(error instanceof TooManyChanges)) throw error;
    }
    yield UNITS_PER_COMMIT;
  }
  return { paths: [...paths], messages, contents: yield* readContents(bytesOfFiles(objects, files.values())) };
}

interface File {
  readonly path: string;
  readonly oid: Oid;
}

/** Yields the contents of the files, and the work units (microseconds) spent on them. */
function* bytesOfFiles(objects: Quarantine, files: Iterable<File>): Generator<FileBytes | number, void> {
  for (const { path, oid } of files) {
    const number = objects.find(oid);
    if (number >= 0 && objects.typeOf(number) === BLOB) yield { path, bytes: yield* objects.readSteps(number) };
    yield COST.object;
  }
}

/** Work units (microseconds) for reading one commit. */
const UNITS_PER_COMMIT = 20;

/**
 * Reads the commits that a push adds, before the push changes anything. Indexes the pack in a transaction that is then
 * discarded, and the push indexes it again. So a fault that waits in between does not block other writers. Returns
 * undefined if the pack is invalid.
 */
export function previewCommits(
  repository: GitRepository,
  tips: readonly Oid[],
  spool: PackSpool,
  withContents: boolean,
): Promise<PushedCommits | undefined> {
  const meter = new Meter({ schedule: repository.objects.schedule });
  return repository.transact(async ({ objects }) => {
    try {
      await indexPack(objects, spool.read(), { thin: true, isGiven: true });
      return await runYielding(readPushedCommits(objects, tips, withContents), meter);
    } catch (error) {
      if (isUnpackError(error)) return undefined;
      throw error;
    }
  });
}

/** Returns true if the error refuses a pack because of its content or its size. */
export function isUnpackError(error: unknown): error is Error {
  return error instanceof PackError || error instanceof StoreFull || error instanceof ObjectTooLarge;
}
