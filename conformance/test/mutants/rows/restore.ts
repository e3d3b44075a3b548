import { type Mutant, proxied } from '../mutant.js';
import { RESTORE } from '../places.js';
import { ignoresMember, setsMember } from '../rewrites.js';

export const rows: readonly Mutant[] = [
  proxied(
    'restore-ignores-expected-head-sha',
    'restore.expected_head.mismatch',
    'does not look at expected_head_sha',
    ignoresMember(RESTORE, 'expected_head_sha'),
  ),
  proxied(
    'restore-calls-nothing-to-do-a-success',
    'restore.already.status',
    'calls nothing to do a success',
    setsMember(RESTORE, 'result.success', true, 409),
  ),
  proxied(
    'restore-does-not-say-which-branch-it-wrote',
    'restore.resp.result',
    'does not say which branch it wrote',
    setsMember(RESTORE, 'result.branch', '', 201),
  ),
  proxied(
    'restore-does-not-say-why-it-failed',
    'restore.failure-body',
    'does not say why it failed',
    setsMember(RESTORE, 'result.message', '', 409),
  ),
  proxied(
    'restore-makes-up-its-own-message',
    'restore.commit_message.used',
    'makes up its own message',
    ignoresMember(RESTORE, 'commit_message'),
  ),
];
