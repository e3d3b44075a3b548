import { type Mutant, proxied } from '../mutant.js';
import { PACK, REPO } from '../places.js';
import type { Rewrite } from '../proxy.js';
import { changesJson, isAt, setsMember } from '../rewrites.js';

/** Makes `created_at` of every repository the time of the last commit-pack request. */
function showsLastCommit(): Rewrite {
  let last = '2026-01-01T00:00:00.000Z';
  return {
    request: (request) => {
      if (isAt(PACK, request)) last = new Date().toISOString();
    },
    ...changesJson<{ created_at: string }>(
      REPO,
      (record) => {
        record.created_at = last;
      },
      200,
    ),
  };
}

export const rows: readonly Mutant[] = [
  proxied(
    'repo-leaves-repo-id-out',
    'repo.record.repo_id.string',
    'leaves repo_id out',
    setsMember(REPO, 'repo_id', undefined, 200),
  ),
  proxied(
    'repo-shows-an-address-as-url',
    'repo.record.url.is-name',
    'shows an address as url',
    setsMember(REPO, 'url', 'https://example.com/x', 200),
  ),
  proxied(
    'repo-counts-seconds-in-created-at',
    'repo.record.created_at.rfc3339',
    'counts seconds in created_at',
    setsMember(REPO, 'created_at', 1_700_000_000),
  ),
  proxied(
    'repo-spells-the-branch-out',
    'repo.record.default_branch.string',
    'spells the branch out',
    setsMember(REPO, 'default_branch', 'refs/heads/main'),
  ),
  proxied(
    'repo-names-a-branch-nobody-reads',
    'repo.record.default_branch.string',
    'names a branch nobody reads',
    setsMember(REPO, 'default_branch', 'trunk'),
  ),

  proxied(
    'repo-shows-a-slash-encoded',
    'repo.record.url.slash',
    'shows a name in url as it stands in a path',
    changesJson<{ url: string }>(
      REPO,
      (record) => {
        record.url = encodeURIComponent(record.url);
      },
      200,
    ),
  ),
  proxied(
    'repo-hides-where-it-is-from',
    'repo.record.base_repo.object',
    'does not say from which repository one was created',
    setsMember(REPO, 'base_repo', undefined, 200),
  ),
  proxied(
    'repo-shows-the-end-of-the-default-branch',
    'repo.record.default_branch.string#slash',
    'shows only the last part of the name of the default branch',
    changesJson<{ default_branch: string }>(
      REPO,
      (record) => {
        record.default_branch = record.default_branch.replace(/.*\//, '');
      },
      200,
    ),
  ),
  ...['provider', 'owner', 'name'].map((member) =>
    proxied(
      `repo-has-a-base-without-${member}`,
      `repo.record.base_repo.${member}#plain`,
      `shows base_repo with ${member} null for a repository without a source`,
      changesJson<{ base_repo?: unknown }>(
        REPO,
        (record) => {
          record.base_repo ??= { provider: 'github', owner: 'o', name: 'n', [member]: null };
        },
        200,
      ),
    ),
  ),
  proxied(
    'repo-numbers-providers',
    'repo.record.base_repo.provider',
    'numbers providers',
    setsMember(REPO, 'base_repo.provider', 1, 200),
  ),
  proxied(
    'repo-has-no-owner',
    'repo.record.base_repo.owner',
    'leaves the owner of the external repository out',
    setsMember(REPO, 'base_repo.owner', undefined, 200),
  ),
  proxied(
    'repo-has-an-empty-base-name',
    'repo.record.base_repo.name',
    'does not name the external repository',
    setsMember(REPO, 'base_repo.name', null, 200),
  ),
  proxied(
    'repo-shows-the-time-of-the-last-commit',
    'repo.record.created_at.rfc3339#kept',
    'shows the time of the last commit as created_at',
    showsLastCommit(),
  ),
];
