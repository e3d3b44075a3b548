import { type Mutant, proxied } from '../mutant.js';
import {
  ARCHIVE,
  BRANCHES,
  COMMIT,
  COMMITS,
  CREATE,
  DIFF,
  FILE,
  GREP,
  META,
  META_OF_ORGANIZATION,
  NOTES,
  PACK,
  REMOTE,
  REPO,
  REPOS,
  RESET,
  RESTORE,
} from '../places.js';
import type { Place } from '../rewrites.js';
import { mendsTokens } from '../tokens.js';

/**
 * Requests that require a token, by operation. `target` is a text that the request path contains, for operations that
 * share a path pattern.
 */
const PLACES: Readonly<Record<string, readonly [place: Place, target?: string]>> = {
  grep: [GREP],
  filemeta: [META],
  commit: [COMMIT],
  archive: [ARCHIVE],
  file: [FILE],
  repo: [REPO],
  branches: [BRANCHES],
  commits: [COMMITS],
  diff: [DIFF],
  restore: [RESTORE],
  reset: [RESET],
  pack: [PACK],
  notes: [NOTES],
  create: [CREATE],
  list: [REPOS],
  meta: [META_OF_ORGANIZATION],
  'fetch-refs': [REMOTE, 'service=git-upload-pack'],
  fetch: [REMOTE, '.git/git-upload-pack'],
  'push-refs': [REMOTE, 'service=git-receive-pack'],
  push: [REMOTE, '.git/git-receive-pack'],
};

/** For each operation that reads a token, mutants (wrong servers) on which only this operation skips a check. */
export const rows: readonly Mutant[] = Object.entries(PLACES).flatMap(([name, [place, target = '']]) => [
  proxied(
    `claim-does-not-look-at-exp-of-${name}`,
    'claim.exp.expired',
    `takes tokens that have expired (${name})`,
    mendsTokens(place, ({ claims }, { path }) => (path.includes(target) ? { ...claims, exp: undefined } : undefined)),
  ),
  proxied(
    `key-checks-no-signature-of-${name}`,
    'key.signature.verified',
    `does not check signatures (${name})`,
    mendsTokens(place, ({ claims, isSignedBy }, { path }) =>
      path.includes(target) && !isSignedBy('es256') ? claims : undefined,
    ),
  ),
]);
