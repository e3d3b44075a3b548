import { spawnSync } from 'node:child_process';
import type { Oid } from '../../object/object.js';
import { oid } from '../../test/oid.js';
import { GIT_ENVIRONMENT, type ScratchGit } from '../../test/workbench.js';

// needs: git

/**
 * Shell script that applies a patch to the tree `$1` with Git. It writes new objects to a temporary folder, so that no
 * patch affects the next one.
 */
const SCRIPT = `
# A lock is left behind where Git stopped with an assertion.
rm -rf made .git/index.lock && mkdir made
export GIT_ALTERNATE_OBJECT_DIRECTORIES="$PWD/.git/objects" GIT_OBJECT_DIRECTORY="$PWD/made"
git read-tree "$1" || exit 2
git apply --cached --binary || exit 1
git write-tree --missing-ok
`;

/** Applies a patch to `tree` with `git apply --cached --binary`. Returns the resulting tree, or Git's error message. */
export function gitApply(git: ScratchGit, tree: Oid, patch: Buffer): { tree?: Oid; message: string } {
  const { status, stdout, stderr } = spawnSync('sh', ['-c', SCRIPT, 'sh', tree], {
    cwd: git.path,
    input: patch,
    env: GIT_ENVIRONMENT,
    maxBuffer: 1 << 28,
  });
  const message = stderr.toString('latin1');
  if (status === 2) throw new Error(message);
  return status === 0 ? { tree: oid(stdout.toString('latin1').trim()), message } : { message };
}
