import { diffTreeEntries, TooManyChanges } from '../git/diff/trees.js';
import { textOf } from '../git/object/bytes.js';
import { readCommit } from '../git/object/commit.js';
import { MissingObject, type Oid } from '../git/object/object.js';
import type { Quarantine } from '../git/odb/quarantine.js';
import { newCommits } from '../git/repository/forced-update.js';
import type { Steps } from '../schedule/steps.js';

/** Content of the new commits of a push, for conditions of faults. */
interface PushedCommits {
  /** Paths of files that differ between a new commit and its first parent, each path once. */
  readonly paths: readonly string[];
  /** Messages of the new commits, without line feeds at their ends. */
  readonly messages: readonly string[];
}

/**
 * Reads the commits that a push adds to the repository. `tips` are the objects to which the pushed refs point. Skips
 * commits whose objects are incomplete, because the push is then refused.
 */
export function* readPushedCommits(objects: Quarantine, tips: readonly Oid[]): Steps<PushedCommits> {
  const paths = new Set<string>();
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
        else for (const entry of [change.before, change.after]) if (entry) paths.add(textOf(entry.path));
      }
    } catch (error) {
      if (!(error instanceof MissingObject) && !(error instanceof TooManyChanges)) throw error;
    }
    yield UNITS_PER_COMMIT;
  }
  return { paths: [...paths], messages };
}

/** Work units (microseconds) for reading one commit. */
const UNITS_PER_COMMIT = 20;
