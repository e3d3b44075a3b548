import { type Mutant, type Patch, patched, proxied } from '../mutant.js';
import { PACK } from '../places.js';
import { changesStatus, ignoresMember } from '../rewrites.js';
import { assumesMetadata, changesPack } from '../streams.js';

const ZEROS = '0'.repeat(40);
const BRANCH_WRITE = 'repositories/branch-write.js';

/**
 * Makes the server compare `expected_head_sha` with a wrong commit instead of the branch's tip. `tip` is a JavaScript
 * expression for that commit. Only affects existing branches.
 */
function comparesWith(tip: string): Patch {
  return {
    file: BRANCH_WRITE,
    find: 'requireExpected(write, tip,',
    replace: `requireExpected(write, ${tip},`,
  };
}

/**
 * Makes the server accept any `expected_head_sha` if `condition` is true, which is a JavaScript expression. Only
 * affects existing branches.
 */
function acceptsHeadIf(condition: string): Patch {
  return comparesWith(`${condition} ? write.expected : tip`);
}

/**
 * Makes the server compare `expected_head_sha` with a wrong commit instead of the base branch's tip. `tip` is a
 * JavaScript expression for that commit. Only affects branches that the request creates.
 */
function comparesBaseWith(tip: string): Patch {
  return {
    file: BRANCH_WRITE,
    find: 'requireExpected(write, base,',
    replace: `requireExpected(write, ${tip},`,
  };
}

const DEFAULT_TIP = 'refs.get(branchRef(repository.defaultBranch, false))';
const IS_UNKNOWN = 'write.expected !== undefined && repository.git.objects.find(write.expected) < 0';

export const rows: readonly Mutant[] = [
  proxied(
    'pack-expects-another-head',
    'pack.expected_head.match',
    'compares expected_head_sha with another tip',
    changesPack(({ metadata }) => {
      if (typeof metadata.expected_head_sha === 'string') {
        metadata.expected_head_sha = metadata.expected_head_sha.replace(/^./, (digit) => (digit === '0' ? '1' : '0'));
      }
    }),
  ),
  proxied(
    'pack-ignores-the-expected-head',
    'pack.expected_head.mismatch',
    'does not look at expected_head_sha',
    ignoresMember(PACK, 'expected_head_sha'),
  ),
  patched(
    'pack-commits-what-it-refuses',
    ['pack.expected_head.mismatch', 'pack.base_branch.expected.mismatch'],
    'looks at expected_head_sha once it has committed',
    [
      {
        file: 'api/operations/commit-pack.js',
        find: 'const base = findWriteBase(repository, write);\n            const tree',
        replace: 'const base = findWriteBase(repository, { ...write, expected: undefined });\n            const tree',
      },
      {
        file: 'api/operations/commit-pack.js',
        find: "edits.filter((edit) => 'content' in edit).length",
        replace: `(() => { if (write.expected !== undefined && write.expected !== written.old) throw problem('conflict', 'Another tip.'); return 0; })()`,
      },
    ],
  ),
  proxied(
    'pack-wants-an-expected-head',
    'pack.expected_head.omitted',
    'takes a missing expected_head_sha for a branch that is not there',
    assumesMetadata('expected_head_sha', ZEROS),
  ),
  patched(
    'pack-loses-the-slower-of-two-commits',
    'pack.expected_head.race',
    'looks at the tip before it is its turn to write',
    {
      file: 'api/operations/commit-pack.js',
      find: `const written = await transact(repository, async (transaction) => {
            // The client may have disconnected while the request waited for other writers.
            meter.check();
            const base = findWriteBase(repository, write);`,
      replace: `const early = findWriteBase(repository, write);
        await new Promise((resolve) => setTimeout(resolve, 50));
        const written = await transact(repository, async (transaction) => {
            const base = { ...early, old: repository.git.refs.get(early.ref) ?? early.old };`,
    },
  ),
  proxied(
    'pack-seeds-no-empty-repository',
    'pack.empty-repo.seed',
    'wants the default branch to be there before the first commit',
    changesPack(({ metadata }) => {
      metadata.base_branch ??= metadata.target_branch;
    }),
  ),
  proxied(
    'pack-ignores-the-base-branch',
    'pack.base_branch.creates',
    'does not look at base_branch',
    ignoresMember(PACK, 'base_branch'),
  ),
  patched(
    'pack-begins-before-the-newest-commit-of-the-base',
    'pack.base_branch.latest',
    'begins a branch before the newest commit of its base',
    {
      file: 'repositories/branch-write.js',
      find: 'return { parent: base, old: ZERO_OID };',
      replace: 'return { parent: readCommit(repository.git.objects, base).parents[0] ?? base, old: ZERO_OID };',
    },
  ),
  proxied(
    'pack-expects-a-new-branch-to-be-there',
    'pack.base_branch.expected.match',
    'compares expected_head_sha with the new branch, which has no head',
    changesPack(({ metadata }) => {
      if (metadata.base_branch !== undefined && metadata.expected_head_sha !== undefined) {
        metadata.expected_head_sha = ZEROS;
      }
    }),
  ),
  proxied(
    'pack-does-not-compare-the-base',
    'pack.base_branch.expected.mismatch',
    'does not look at expected_head_sha where there is a base',
    changesPack(({ metadata }) => {
      if (metadata.base_branch !== undefined) metadata.expected_head_sha = undefined;
    }),
  ),
  proxied(
    'pack-calls-a-missing-base-a-bad-request',
    'pack.base_branch.missing',
    'calls a missing base a bad request',
    changesStatus(PACK, 404, 400),
  ),
  proxied(
    'pack-ignores-ephemeral',
    ['pack.ephemeral.true', 'pack.ephemeral.isolated'],
    'does not look at ephemeral',
    ignoresMember(PACK, 'ephemeral'),
  ),
  proxied(
    'pack-ignores-ephemeral-base',
    'pack.ephemeral_base.true',
    'does not look at ephemeral_base',
    ignoresMember(PACK, 'ephemeral_base'),
  ),
  patched(
    'pack-expects-the-head-of-the-default-branch',
    ['pack.expected_head.match#other-branch', 'pack.expected_head.mismatch#other-branch'],
    'compares expected_head_sha with the tip of the default branch',
    comparesWith(DEFAULT_TIP),
  ),
  patched(
    'pack-expects-the-head-of-the-ordinary-namesake',
    ['pack.expected_head.match#ephemeral', 'pack.expected_head.mismatch#ephemeral'],
    'compares expected_head_sha of an ephemeral branch with the ordinary branch of the same name',
    comparesWith('refs.get(branchRef(write.branch, false)) ?? tip'),
  ),
  patched(
    'pack-accepts-a-stale-head',
    'pack.expected_head.mismatch#stale',
    'accepts the parent of the tip as expected_head_sha',
    acceptsHeadIf('readCommit(repository.git.objects, tip).parents.includes(write.expected)'),
  ),
  patched(
    'pack-accepts-an-unknown-head',
    'pack.expected_head.mismatch#unknown',
    'does not look at an expected_head_sha that no commit has',
    acceptsHeadIf(IS_UNKNOWN),
  ),
  patched(
    'pack-accepts-the-head-of-any-branch',
    'pack.expected_head.mismatch#tip-of-another-branch',
    'accepts the tip of any branch as expected_head_sha',
    acceptsHeadIf('[...refs.entries(BRANCHES)].some(([, { oid }]) => oid === write.expected)'),
  ),
  proxied(
    'pack-takes-zeros-for-no-expected-head',
    'pack.expected_head.mismatch#zeros',
    'takes an expected_head_sha of zeros for none',
    changesPack(({ metadata }) => {
      if (metadata.expected_head_sha === ZEROS) metadata.expected_head_sha = undefined;
    }),
  ),
  proxied(
    'pack-ignores-a-shortened-head',
    'pack.expected_head.mismatch#shortened',
    'does not look at an expected_head_sha of fewer than 40 digits',
    changesPack(({ metadata }) => {
      if (String(metadata.expected_head_sha).length !== 40) metadata.expected_head_sha = undefined;
    }),
  ),
  patched(
    'pack-expects-the-head-of-the-base-of-a-branch-that-exists',
    'pack.expected_head.mismatch#base-given',
    'compares expected_head_sha with the base branch although the target branch exists',
    comparesWith('(write.base && refs.get(branchRef(write.base.branch, write.base.ephemeral))) ?? tip'),
  ),
  patched(
    'pack-seeds-an-empty-repository-with-any-expected-head',
    'pack.expected_head.mismatch#empty-repository',
    'ignores expected_head_sha in an empty repository',
    {
      file: BRANCH_WRITE,
      find: 'requireExpected(write, ZERO_OID,',
      replace: 'requireExpected(write, write.expected ?? ZERO_OID,',
    },
  ),
  proxied(
    'pack-begins-every-branch-at-main',
    'pack.base_branch.creates#other-base',
    'begins every new branch at main',
    changesPack(({ metadata }) => {
      if (metadata.base_branch !== undefined && metadata.ephemeral_base !== true) metadata.base_branch = 'main';
    }),
  ),
  patched(
    'pack-moves-the-base-along',
    'pack.base_branch.creates#base-stays',
    'moves the base branch to the first commit of the new branch',
    [
      {
        file: BRANCH_WRITE,
        find: 'commitTo(transaction, { ref, old, parents, tree, author, committer, message })',
        replace:
          'commitTo(transaction, { ref, old, parents, tree, author, committer, message, base: arguments[3].base })',
      },
      {
        file: BRANCH_WRITE,
        find: 'transaction.update({ name: plan.ref, old: plan.old, new: commit });',
        replace: `transaction.update({ name: plan.ref, old: plan.old, new: commit });
        if (plan.base !== undefined && plan.old === ZERO_OID) {
          const name = branchRef(plan.base.branch, plan.base.ephemeral);
          transaction.update({ name, old: transaction.refs.get(name), new: commit });
        }`,
      },
    ],
  ),
  patched(
    'pack-expects-the-head-of-the-default-branch-as-base',
    ['pack.base_branch.expected.match#other-base', 'pack.base_branch.expected.mismatch#other-base'],
    'compares expected_head_sha of a new branch with the tip of the default branch',
    comparesBaseWith(DEFAULT_TIP),
  ),
  patched(
    'pack-accepts-an-unknown-head-of-the-base',
    'pack.base_branch.expected.mismatch#unknown',
    'does not look at an expected_head_sha of the base that no commit has',
    comparesBaseWith(`${IS_UNKNOWN} ? write.expected : base`),
  ),
  proxied(
    'pack-looks-for-the-base-where-it-writes',
    'pack.ephemeral.true#ordinary-base',
    'looks up the base of an ephemeral branch among the ephemeral branches',
    changesPack(({ metadata }) => {
      metadata.ephemeral_base ??= metadata.ephemeral;
    }),
  ),
  patched(
    'pack-moves-the-ephemeral-namesake',
    'pack.ephemeral.isolated#converse',
    'moves the ephemeral branch along with the ordinary branch of the same name',
    {
      file: BRANCH_WRITE,
      find: 'transaction.update({ name: plan.ref, old: plan.old, new: commit });',
      replace: `transaction.update({ name: plan.ref, old: plan.old, new: commit });
      const namesake = concatBytes(EPHEMERAL, plan.ref);
      const old = transaction.refs.get(namesake);
      if (old !== undefined) transaction.update({ name: namesake, old, new: commit });`,
    },
  ),
  patched(
    'pack-prefers-an-ordinary-base',
    'pack.ephemeral_base.true#namesake',
    'takes the ordinary branch for an ephemeral base if both exist',
    {
      file: BRANCH_WRITE,
      find: 'const base = refs.get(branchRef(write.base.branch, write.base.ephemeral));',
      replace: `const base = refs.get(branchRef(write.base.branch, false))
        ?? refs.get(branchRef(write.base.branch, write.base.ephemeral));`,
    },
  ),
  proxied(
    'pack-writes-where-the-base-is',
    'pack.ephemeral_base.true#target-unaffected',
    'writes an ephemeral branch if the base is ephemeral',
    changesPack(({ metadata }) => {
      if (metadata.ephemeral_base === true) metadata.ephemeral = true;
    }),
  ),
  proxied(
    'pack-takes-ephemeral-false-for-true',
    'pack.ephemeral_base.true#false',
    'writes an ephemeral branch if ephemeral is given, whatever its value',
    changesPack(({ metadata }) => {
      if (metadata.ephemeral === false) metadata.ephemeral = true;
    }),
  ),
  proxied(
    'pack-takes-ephemeral-base-false-for-true',
    'pack.ephemeral_base.true#false',
    'looks for an ephemeral base if ephemeral_base is given, whatever its value',
    changesPack(({ metadata }) => {
      if (metadata.ephemeral_base === false) metadata.ephemeral_base = true;
    }),
  ),
  patched(
    'pack-loses-one-of-two-commits',
    'pack.expected_head.race#no-loss',
    'looks at the tip before it is its turn to write if no head is expected',
    {
      file: 'api/operations/commit-pack.js',
      find: `const written = await transact(repository, async (transaction) => {
            // The client may have disconnected while the request waited for other writers.
            meter.check();
            const base = findWriteBase(repository, write);`,
      replace: `const early = write.expected === undefined ? findWriteBase(repository, write) : undefined;
        await new Promise((resolve) => setTimeout(resolve, 50));
        const written = await transact(repository, async (transaction) => {
            const base = early === undefined
              ? findWriteBase(repository, write)
              : { ...early, old: repository.git.refs.get(early.ref) ?? early.old };`,
    },
  ),
  patched(
    'pack-falls-back-to-an-ordinary-base',
    'pack.ephemeral_base.true#no-fallback',
    'takes the ordinary branch for an ephemeral base that does not exist',
    {
      file: BRANCH_WRITE,
      find: 'const base = refs.get(branchRef(write.base.branch, write.base.ephemeral));',
      replace: `const base = refs.get(branchRef(write.base.branch, write.base.ephemeral))
        ?? (write.base.ephemeral ? refs.get(branchRef(write.base.branch, false)) : undefined);`,
    },
  ),
  patched(
    'pack-compares-part-of-the-expected-head',
    'pack.expected_head.mismatch#last-digit',
    'compares only the first 39 digits of expected_head_sha',
    acceptsHeadIf('write.expected?.slice(0, 39) === tip.slice(0, 39)'),
  ),
];
