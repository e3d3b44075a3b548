import { type Mutant, patched, proxied } from '../mutant.js';
import { PACK } from '../places.js';
import { changesStatus, ignoresMember } from '../rewrites.js';
import { assumesMetadata, changesPack } from '../streams.js';

const ZEROS = '0'.repeat(40);

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
];
