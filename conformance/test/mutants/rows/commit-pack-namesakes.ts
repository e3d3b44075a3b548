import { type Mutant, type Patch, patched } from '../mutant.js';

const BRANCH_WRITE = 'repositories/branch-write.js';
const VIEW = 'smart-http/view.js';

/**
 * Makes the server accept a commit on a branch that does not exist, without `base_branch`. `start` is a JavaScript
 * expression for the commit at which the branch begins. If its value is undefined, the server refuses the request.
 */
function beginsAt(start: string): Patch {
  return {
    file: BRANCH_WRITE,
    find: 'if (write.base) {',
    replace: `const start = write.base ? undefined : ${start};
    if (start !== undefined) return { parent: start, old: ZERO_OID };
    if (write.base) {`,
  };
}

/** Servers that confuse a branch with an ephemeral branch, or with another thing of the same name. */
export const rows: readonly Mutant[] = [
  patched(
    'pack-begins-an-ephemeral-branch-at-its-ordinary-namesake',
    'pack.target_branch.must-exist#ephemeral',
    'begins an ephemeral branch at the ordinary branch of the same name if no base is given',
    beginsAt('write.ephemeral ? refs.get(branchRef(write.branch, false)) : undefined'),
  ),
  patched(
    'pack-begins-an-ordinary-branch-at-its-ephemeral-namesake',
    'pack.target_branch.must-exist#ordinary',
    'begins an ordinary branch at the ephemeral branch of the same name if no base is given',
    beginsAt('write.ephemeral ? undefined : refs.get(branchRef(write.branch, true))'),
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
  patched(
    'pack-begins-a-branch-at-a-tag',
    'pack.target_branch.must-exist#tag',
    'begins a branch at the tag of the same name if no base is given',
    beginsAt("refs.get('refs/tags/' + write.branch)"),
  ),
  patched(
    'pack-begins-a-branch-at-a-sha',
    'pack.target_branch.must-exist#sha',
    'begins a branch at the commit whose SHA is the name of the branch if no base is given',
    beginsAt('/^[0-9a-f]{40}$/.test(write.branch) ? write.branch : undefined'),
  ),
];
