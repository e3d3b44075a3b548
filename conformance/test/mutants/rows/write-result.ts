import { type Mutant, proxied } from '../mutant.js';
import { PACK } from '../places.js';
import { changesJson, setsMember } from '../rewrites.js';

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
];
