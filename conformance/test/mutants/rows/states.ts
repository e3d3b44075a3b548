import { type Mutant, proxied } from '../mutant.js';
import { API, FILE, RESTORE } from '../places.js';
import { changesStatus, setsMember } from '../rewrites.js';

export const rows: readonly Mutant[] = [
  proxied(
    'state-is-locked-while-it-thaws',
    'state.thawing.409',
    'is locked while it thaws',
    changesStatus(API, 409, 423),
  ),

  proxied(
    'state-is-never-available',
    'state.active',
    'has no file of an active repository at hand',
    changesStatus(FILE, 200, 503),
  ),
  proxied(
    'state-calls-a-sync-a-conflict',
    'state.syncing.409',
    'refuses writes while it syncs as any conflict',
    setsMember(API, 'code', 'conflict', 409),
  ),
  proxied(
    'state-tells-of-branches-by-status-only',
    'state.ref-outcome-in-body',
    'calls every restore a success in the body',
    setsMember(RESTORE, 'result.success', true),
  ),
  proxied(
    'state-takes-a-deleted-repository-for-gone',
    'state.deleted.409',
    'answers the deletion of a deleted repository with 410',
    changesStatus(API, 409, 410),
  ),
];
