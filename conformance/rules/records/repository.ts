import { commitFiles } from '../../api/commit-pack.js';
import { createRepo, getRepo, grep } from '../../api/requests.js';
import type { ApiResponse } from '../../check/api-response.js';
import {
  expectMatch,
  expectOneOf,
  expectOther,
  expectSame,
  expectStatus,
  expectTime,
  expectTrue,
} from '../../check/expect.js';
import { Skip } from '../../check/outcomes.js';
import type { RuleContext } from '../../check/rule-context.js';
import { sampleContent } from '../../fixtures/content.js';
import { OTHER_DEFAULT, otherDefaultRepository } from '../../fixtures/other-default.js';
import { otherRepository, reserveName, sampleRepository, sharedRepository } from '../../fixtures/repositories.js';
import { isRecord } from '../../http/exchange.js';
import { UNREACHABLE_UPSTREAM } from '../companion/test-repository.js';
import { defineRules, leftOpen, on } from '../rule.js';

async function record(t: RuleContext) {
  const { name } = await sampleRepository(t);
  const response = expectStatus(await getRepo(t, name), 200);
  return { name, response };
}

/** Creates a repository, notes its `created_at`, and then commits to it. The rules of a run share the repository. */
function datedRepository(t: RuleContext) {
  return sharedRepository(t, 'dated', async (maker, name) => {
    const created = (await getRepo(maker, name)).string('created_at');
    // Without a fraction of a second, the time of a commit within the same second would be equal.
    if (!created.includes('.')) await maker.run.sleep(1000);
    await commitFiles(maker, name, { 'later.txt': 'later' });
    return { name, created };
  });
}

/**
 * Creates a repository that is imported from a forge, and waits until its first sync has finished. Uses routes that
 * only published clients show.
 */
async function imported(t: RuleContext): Promise<ApiResponse> {
  t.needsCompanion();
  t.needsEmulator();
  t.needsWrite();
  const name = await reserveName(t);
  const made = await createRepo(t, name, { json: { base_repo: UNREACHABLE_UPSTREAM } });
  if (made.status > 299)
    throw new Skip(`a repository with an upstream cannot be created on this target: ${made.outcome}`);
  // Poll, because the specification does not say whether reads wait for the first sync. It also does not say whether
  // every response has `base_repo`.
  return t.eventually(async () => {
    const response = await getRepo(t, name);
    return (response.find('base_repo') ?? null) !== null && response;
  }, 'a read after the first sync must show base_repo');
}

export const repositoryRecord = defineRules('Repository record', 'repository-record', [
  {
    id: 'repo.record.repo_id.string',
    says: 'repo_id is a non-empty string that is the same at every read and unique to the repository.',
    check: on(record, async (t, { name, response }) => {
      expectMatch(response.find('repo_id'), /./, 'repo_id must be a non-empty string');
      expectSame(
        (await getRepo(t, name)).string('repo_id'),
        response.string('repo_id'),
        'a second read must show the same repo_id',
      );
      if (!t.target.write) return;
      const other = await getRepo(t, (await otherRepository(t)).name);
      expectOther(other.string('repo_id'), response.string('repo_id'), 'another repository must have another repo_id');
    }),
  },
  {
    id: 'repo.record.url.is-name',
    says: 'url is the name of the repository.',
    check: on(record, async (_t, { name, response }) =>
      expectSame(response.string('url'), name, 'url must be the name of the repository'),
    ),
  },
  {
    id: 'repo.record.url.slash',
    says: 'A slash in the repository name is an unencoded slash in url.',
    check: on(record, async (_t, { name, response }) => {
      if (!name.includes('/')) throw new Skip('needs a repository with a slash in its name');
      expectSame(response.string('url'), name, 'url must contain the slash unencoded');
    }),
  },
  {
    id: 'repo.record.default_branch.string',
    says: 'default_branch is the name of the default branch without refs/heads/.',
    clauses: { slash: 'A slash in the name is kept.' },
    check: on(record, async (t, { name, response }) => {
      const branch = response.find('default_branch');
      expectMatch(branch, /^(?!refs\/)./, 'default_branch must be a short name');
      await sampleContent(t);
      const readAt = async (body: object) => {
        const found = await grep(t, name, { query: { pattern: 'e' }, pagination: { limit: 1 }, ...body });
        return expectStatus(found, 200).string('repo', 'commit');
      };
      // Another client may push between the requests. The read without `ref` may then show the branch before or after
      // that push.
      const before = await readAt({ ref: branch });
      expectOneOf(
        await readAt({}),
        [before, await readAt({ ref: branch })],
        'a read without ref must read the default branch',
      );
      const other = await otherDefaultRepository(t);
      if (other === undefined) return;
      const shown = (await getRepo(t, other)).string('default_branch');
      expectSame(shown, OTHER_DEFAULT, 'default_branch must be the name with which the repository was created');
    }),
  },
  {
    id: 'repo.record.created_at.rfc3339',
    says: 'created_at is an RFC 3339 timestamp.',
    clauses: { kept: 'A commit does not change created_at.' },
    check: async (t) => {
      expectTime((await record(t)).response.find('created_at'), 'created_at must be an RFC 3339 time');
      if (!t.target.write) return;
      const { name, created } = await datedRepository(t);
      expectSame((await getRepo(t, name)).string('created_at'), created, 'created_at must not change');
    },
  },
  {
    id: 'repo.record.base_repo.object',
    says: 'base_repo names the external repository from which this repository was created.',
    reach: 'needs-setup',
    writes: true,
    check: async (t) => {
      const { provider, owner, name } = (await imported(t)).record('base_repo');
      const { upstream_host: _, ...source } = UNREACHABLE_UPSTREAM;
      expectSame({ provider, owner, name }, source, 'base_repo must be the source');
    },
  },
  ...(['provider', 'owner', 'name'] as const).map((member) => ({
    id: `repo.record.base_repo.${member}`,
    says: `base_repo.${member} is a string.`,
    clauses: { plain: 'This is also true if a repository without an external source has base_repo.' },
    reach: 'needs-setup' as const,
    writes: true,
    check: async (t: RuleContext) => {
      const { response } = await record(t);
      if (isRecord(response.find('base_repo'))) response.string('base_repo', member);
      (await imported(t)).string('base_repo', member);
    },
  })),
  leftOpen(
    'repo.record.base_repo.presence',
    'The specification does not say whether a repository without an external source has base_repo.',
    record,
    async (t, { response }) => {
      const value = response.find('base_repo');
      expectTrue(
        value === undefined || value === null || typeof value === 'object',
        'base_repo must not be a scalar',
        value,
      );
      t.observe('base_repo', value === undefined ? 'absent' : value);
    },
  ),
]);
