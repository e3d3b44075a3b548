import { type Mutant, type Patch, patched } from '../mutant.js';

const BRANCH_WRITE = 'repositories/branch-write.js';
const VIEW = 'smart-http/view.js';

/**
 * Makes the server accept a commit on a branch that does not exist, without `base_branch`, if a branch with this name
 * exists in the other ref namespace. That branch is then the base. `ephemeral`: namespace of the new branch.
 */
function beginsAtNamesake(ephemeral: boolean): Patch {
  return {
    file: BRANCH_WRITE,
    find: 'if (write.base) {',
    replace: `const namesake = refs.get(branchRef(write.branch, ${!ephemeral}));
    if (!write.base && write.ephemeral === ${ephemeral} && namesake) return { parent: namesake, old: ZERO_OID };
    if (write.base) {`,
  };
}

/** Servers that do not keep ephemeral and ordinary branches apart. */
export const rows: readonly Mutant[] = [
  patched(
    'pack-begins-an-ephemeral-branch-at-its-ordinary-namesake',
    'pack.target_branch.must-exist#ephemeral',
    'begins an ephemeral branch at the ordinary branch of the same name if no base is given',
    beginsAtNamesake(true),
  ),
  patched(
    'pack-begins-an-ordinary-branch-at-its-ephemeral-namesake',
    'pack.target_branch.must-exist#ordinary',
    'begins an ordinary branch at the ephemeral branch of the same name if no base is given',
    beginsAtNamesake(false),
  ),
  patched(
    'pack-expects-the-head-of-the-ordinary-base',
    ['pack.base_branch.expected.match#ephemeral-base', 'pack.base_branch.expected.mismatch#ephemeral-base'],
    'compares expected_head_sha of a new branch with the ordinary branch that has the name of the ephemeral base',
    {
      file: BRANCH_WRITE,
      find: 'requireExpected(write, base,',
      replace: 'requireExpected(write, refs.get(branchRef(write.base.branch, false)) ?? base,',
    },
  ),
  patched(
    'git-lists-ephemeral-branches-as-ordinary-ones',
    ['pack.ephemeral.true#git', 'pack.ephemeral.isolated#git'],
    'lists ephemeral branches for Git as if they were ordinary branches',
    [
      { file: VIEW, find: '!name.startsWith(NAMESPACES)', replace: 'true' },
      {
        file: VIEW,
        find: 'yield [name, oid];',
        replace: "yield [name.replace('refs/namespaces/ephemeral/', ''), oid];",
      },
    ],
  ),
];
