import { type Mutant, type Patch, patched, proxied } from '../mutant.js';
import { PACK } from '../places.js';
import type { Rewrite } from '../proxy.js';
import { changesJson, setsMember } from '../rewrites.js';

interface Written {
  commit: { commit_sha: string; tree_sha: string; target_branch: string; blob_count: unknown };
  result: { branch: string; old_sha: string; new_sha: string; success: unknown; status: string; message: string };
}

/** Changes the results that successful commit-pack responses report. */
function changesWritten(change: (written: Written) => void): Rewrite {
  return changesJson<Written>(PACK, change, 201);
}

/** Changes the reported result of commits that create a branch other than `main`. */
function changesNewBranch(change: (result: Written['result']) => void): Rewrite {
  return changesWritten(({ commit, result }) => {
    if (commit.target_branch !== 'main' && /^0+$/.test(result.old_sha)) change(result);
  });
}

/**
 * Makes the server report wrong values in write results. `change` is JavaScript code for the wrong values. In it,
 * `isDefault` is true for a write to the default branch, and `defaultTip` is the tip of the default branch.
 */
function showsWritten(change: string): Patch {
  return {
    file: 'api/operations/commit-pack.js',
    find: "const blobs = edits.filter((edit) => 'content' in edit).length;",
    replace: `const blobs = edits.filter((edit) => 'content' in edit).length;
      const { refs } = repository.git;
      const isDefault = write.branch === repository.defaultBranch && !write.ephemeral;
      const defaultTip = refs.get('refs/heads/' + repository.defaultBranch);
      Object.assign(written, ${change});`,
  };
}

export const rows: readonly Mutant[] = [
  proxied(
    'write-has-no-old-sha-for-a-new-branch',
    'write.result.old_sha.zeros',
    'has no old_sha for a new branch',
    changesJson<{ result?: { old_sha: string } }>(PACK, ({ result }) => {
      if (result !== undefined && /^0+$/.test(result.old_sha)) result.old_sha = '';
    }),
  ),
  proxied(
    'write-calls-the-base-the-old-tip',
    'write.result.old_sha.zeros',
    'calls the base the old tip',
    setsMember(PACK, 'result.old_sha', 'a'.repeat(40), 409),
  ),
  proxied(
    'write-shortens-the-tip-of-a-branch-that-was-not-written',
    'write.result.old_sha.hex40',
    'shortens the tip of a branch that was not written',
    setsMember(PACK, 'result.old_sha', 'abc1234', 409),
    { beside: ['pack.expected_head.mismatch'] },
  ),
  proxied(
    'write-calls-a-success-created',
    'write.result.status.ok',
    'calls a success created',
    setsMember(PACK, 'result.status', 'created', 201),
  ),
  proxied(
    'write-writes-sizes-as-text',
    'write.commit.pack_bytes',
    'writes sizes as text',
    setsMember(PACK, 'commit.pack_bytes', '12', 201),
  ),
  proxied(
    'write-names-the-tree-as-the-commit',
    'write.commit.commit_sha',
    'names the tree as the new commit',
    changesWritten(({ commit }) => {
      commit.commit_sha = commit.tree_sha;
    }),
  ),
  proxied(
    'write-names-the-commit-as-the-tree',
    'write.commit.tree_sha',
    'names the new commit as its tree',
    changesWritten(({ commit }) => {
      commit.tree_sha = commit.commit_sha;
    }),
  ),
  proxied(
    'write-spells-the-branch-out',
    'write.commit.target_branch',
    'shows the full name of the ref as the branch',
    changesWritten(({ commit }) => {
      commit.target_branch = `refs/heads/${commit.target_branch}`;
    }),
  ),
  proxied(
    'write-calls-every-branch-main',
    'write.commit.target_branch',
    'calls each branch that was written main',
    changesWritten(({ commit }) => {
      commit.target_branch = 'main';
    }),
  ),
  proxied(
    'write-calls-every-branch-main-in-its-result',
    'write.result.branch',
    'calls each branch main in the result of a write',
    changesWritten(({ result }) => {
      result.branch = result.branch.startsWith('refs/') ? 'refs/heads/main' : 'main';
    }),
  ),
  proxied(
    'write-counts-blobs-in-text',
    'write.commit.blob_count.type',
    'writes the number of blobs as text',
    changesWritten(({ commit }) => {
      commit.blob_count = String(commit.blob_count);
    }),
  ),
  proxied(
    'write-names-no-branch',
    'write.result.branch',
    'leaves the name of the branch empty',
    changesWritten(({ result }) => {
      result.branch = '';
    }),
  ),
  proxied(
    'write-has-zeros-for-every-old-sha',
    'write.result.old_sha.previous-tip',
    'has no old_sha for a branch that stood somewhere',
    changesWritten(({ result }) => {
      result.old_sha = '0'.repeat(40);
    }),
  ),
  proxied(
    'write-repeats-old-sha',
    'write.result.new_sha',
    'repeats old_sha as new_sha',
    changesWritten(({ result }) => {
      result.new_sha = result.old_sha;
    }),
  ),
  proxied(
    'write-counts-successes',
    'write.result.success.bool',
    'writes success as a number',
    changesWritten(({ result }) => {
      result.success = 1;
    }),
  ),
  proxied(
    'write-praises-successes',
    'write.result.message.empty-on-success',
    'has a message for a success',
    changesWritten(({ result }) => {
      result.message = 'Committed.';
    }),
  ),
  proxied(
    'write-counts-no-blobs-of-a-deletion',
    'write.commit.blob_count.type#no-blobs',
    'leaves blob_count out if it is 0',
    changesWritten(({ commit }) => {
      if (commit.blob_count === 0) commit.blob_count = undefined;
    }),
  ),
  patched(
    'write-shows-the-old-tip-of-the-default-branch',
    'write.result.old_sha.previous-tip#other-branch',
    'shows the tip of the default branch as old_sha of another branch',
    showsWritten('written.old === ZERO_OID || isDefault ? {} : { old: defaultTip }'),
  ),
  proxied(
    'write-shows-the-old-tip-as-the-new-one-beside-main',
    'write.result.new_sha#other-branch',
    'shows old_sha as new_sha of a branch that exists and is not main',
    changesWritten(({ commit, result }) => {
      if (commit.target_branch !== 'main' && !/^0+$/.test(result.old_sha)) result.new_sha = result.old_sha;
    }),
  ),
  patched(
    'write-shows-the-base-as-the-old-tip',
    'write.result.old_sha.zeros#base',
    'shows the tip of the base as old_sha of a new branch',
    showsWritten('written.old === ZERO_OID && write.base !== undefined && !write.ephemeral ? { old: defaultTip } : {}'),
  ),
  patched(
    'write-shows-the-namesake-as-the-old-tip',
    'write.result.old_sha.zeros#ephemeral',
    'shows the tip of the ordinary branch as old_sha of a new ephemeral one with the same name',
    showsWritten(
      "written.old === ZERO_OID && write.ephemeral ? { old: refs.get('refs/heads/' + write.branch) ?? ZERO_OID } : {}",
    ),
  ),
  proxied(
    'write-has-no-old-tip-of-a-first-commit',
    'write.result.old_sha.zeros#empty-repository',
    'shows no old_sha for the first commit of main',
    changesWritten(({ commit, result }) => {
      if (commit.target_branch === 'main' && /^0+$/.test(result.old_sha)) result.old_sha = '';
    }),
  ),
  proxied(
    'write-counts-successes-of-new-branches',
    'write.result.success.bool#new-branch',
    'writes success as a number if it creates a branch',
    changesNewBranch((result) => {
      result.success = 1;
    }),
  ),
  proxied(
    'write-calls-a-new-branch-created',
    'write.result.status.ok#new-branch',
    'shows the status created if it creates a branch',
    changesNewBranch((result) => {
      result.status = 'created';
    }),
  ),
  proxied(
    'write-praises-new-branches',
    'write.result.message.empty-on-success#new-branch',
    'has a message if it creates a branch',
    changesNewBranch((result) => {
      result.message = 'Branch created.';
    }),
  ),
  patched(
    'write-sorts-folders-like-files',
    'write.commit.tree_sha#order',
    'sorts the folders of a tree like its files',
    {
      file: 'git/object/tree.js',
      find: 'return left < right ? -1 : left > right ? 1 : 0;',
      replace: 'return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;',
    },
  ),
];
