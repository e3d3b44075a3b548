import { commitFiles, createRepo, deleteRepo, getRepo, grep, keeper, packLines, segment, sendPack } from '../../api.js';
import type { Answer } from '../../exchange.js';
import { expectCode, expectMatch, expectStatus, expectSuccess, expectTrue, NotHere } from '../../expect.js';
import { defineRules, type Reach, type RuleRow } from '../../rule.js';
import type { Trial } from '../../trial.js';
import { SPECIFIC } from './codes.js';
import { problemOf } from './problems.js';

interface Provocation {
  readonly reach: Reach;
  readonly writes: boolean;
  readonly provoke: (t: Trial) => Promise<Answer>;
  /** Tolerated answers, where a contradiction leaves a choice. */
  readonly instead?: readonly [decision: string, where: string, members: readonly string[]];
}

const base = (repo: string) => `/api/repos/${segment(repo)}`;

function forced(code: string, fault = `code:${code}`): Provocation {
  return {
    reach: 'emulator',
    writes: false,
    provoke: async (t) => {
      t.needsEmulator();
      return getRepo(t, (await t.world.sample(t)).name, { fault });
    },
  };
}

/** Causes the code through routes that clients know. */
function known(provoke: (t: Trial, repo: string) => Promise<Answer>): Provocation {
  return {
    reach: 'needs-setup',
    writes: true,
    provoke: async (t) => {
      t.needsCompanion();
      return provoke(t, (await t.world.fresh(t)).name);
    },
  };
}

/** Gives a repository a hosting project of its own. */
async function addProject(t: Trial, repo: string): Promise<void> {
  const json = { deployment: { project_name: `project-${t.world.newName().replaceAll('/', '-')}` } };
  expectSuccess(await t.request('PATCH', base(repo), { as: keeper(repo), json }));
}

const plain = (provoke: (t: Trial) => Promise<Answer>, writes = false): Provocation => ({
  reach: 'any',
  writes,
  provoke,
});

const PROVOCATIONS: Readonly<Record<string, Provocation>> = {
  authentication_unavailable: forced('authentication_unavailable', 'authentication_unavailable'),
  insufficient_scope: plain(async (t) => {
    const { name } = await t.world.sample(t);
    return grep(t, name, { query: { pattern: 'e' } }, { as: { repo: name, scopes: ['git:write'] } });
  }),
  repo_claim_missing: {
    ...plain((t) => t.get('/api/v1/repo', { as: { scopes: ['git:read'] } })),
    instead: ['A03', 'no repo claim', ['400 repo_claim_missing', '403 forbidden']],
  },
  repo_name_mismatch: plain((t) => createRepo(t, t.world.newName(), { json: { repo_name: 'another' } }), true),
  route_not_found: plain(async (t) => t.get('/api/no-such-route', { as: { repo: (await t.world.sample(t)).name } })),
  repository_not_found: plain((t) => getRepo(t, t.world.newName())),
  repository_deleted: known(async (t, repo) => {
    expectSuccess(await deleteRepo(t, repo));
    return deleteRepo(t, repo);
  }),
  repository_thawing: forced('repository_thawing', 'repository_thawing'),
  sync_in_progress: {
    reach: 'emulator',
    writes: true,
    provoke: async (t) => {
      t.needsEmulator();
      const { name } = await t.world.scratch(t);
      return sendPack(t, name, packLines({ 'x.txt': 'x' }), { fault: 'sync_in_progress' });
    },
  },
  upstream_already_configured: known(async (t) => {
    const repo = t.world.newName();
    await t.world.options.onRepository(repo);
    const base_repo = { provider: 'gitea', owner: 'o', name: 'n', upstream_host: 'localhost:1' };
    await createRepo(t, repo, { json: { base_repo } });
    return createRepo(t, repo, { json: { base_repo: { ...base_repo, name: 'm' } } });
  }),
  branch_not_found: {
    ...plain(async (t) => {
      const { name } = await t.world.scratch(t);
      return sendPack(t, name, packLines({ 'x.txt': 'x' }, { target_branch: 'fresh', base_branch: 'nope' }));
    }, true),
    instead: ['A28', 'missing base branch', ['404 branch_not_found', '404 ref_not_found', '404 not_found']],
  },
  ref_not_found: plain(async (t) =>
    grep(t, (await t.world.sample(t)).name, { query: { pattern: 'e' }, ref: 'no-such-ref' }),
  ),
  merge_conflict: known(async (t, repo) => {
    await commitFiles(t, repo, { 'README.md': 'theirs\n' }, { target_branch: 'theirs', base_branch: 'main' });
    await commitFiles(t, repo, { 'README.md': 'ours\n' });
    const author = { name: 'M', email: 'm@example.com' };
    const json = { source_branch: 'theirs', target_branch: 'main', strategy: 'merge', commit_message: 'Merge', author };
    return t.post(`${base(repo)}/merge`, { as: { repo, scopes: ['git:write'] }, json });
  }),
  credential_not_found: known((t, repo) =>
    t.request('PUT', `${base(repo)}/git-credentials/none`, { as: keeper(repo), json: { password: 'p' } }),
  ),
  credential_exists: known(async (t, repo) => {
    const ask = { as: keeper(repo), json: { username: 'u', password: 'p' } };
    expectSuccess(await t.post(`${base(repo)}/git-credentials`, ask));
    return t.post(`${base(repo)}/git-credentials`, ask);
  }),
  forge_app_not_configured: { ...forced('forge_app_not_configured'), writes: true },
  forge_repository_inaccessible: { ...forced('forge_repository_inaccessible'), writes: true },
  hosting_not_enabled: { ...forced('hosting_not_enabled'), reach: 'needs-setup' },
  hosting_project_not_found: {
    ...known((t, repo) =>
      t.post(`${base(repo)}/deployments`, { as: { repo, scopes: ['deployment:write'] }, json: {} }),
    ),
    writes: false,
  },
  deployment_not_found: {
    ...known(async (t, repo) => {
      await addProject(t, repo);
      return t.get(`${base(repo)}/deployments/none`, { as: { repo, scopes: ['deployment:read'] } });
    }),
    writes: false,
  },
  deployment_project_name_in_use: known(async (t, repo) => {
    const { name: other } = await t.world.fresh(t);
    const json = { deployment: { project_name: `project-${t.world.newName().replaceAll('/', '-')}` } };
    expectSuccess(await t.request('PATCH', base(other), { as: keeper(other), json }));
    return t.request('PATCH', base(repo), { as: keeper(repo), json });
  }),
  idempotency_key_reused: known(async (t, repo) => {
    await addProject(t, repo);
    const ask = { as: { repo, scopes: ['deployment:write'] }, headers: { 'idempotency-key': t.world.newName() } };
    expectSuccess(await t.post(`${base(repo)}/deployments`, { ...ask, json: { ref: 'main' } }));
    return t.post(`${base(repo)}/deployments`, { ...ask, json: { ref: 'main', target: 'production' } });
  }),
};

function specific(code: string, [status, meaning]: readonly [number, string]): RuleRow {
  const { reach, writes, provoke, instead } = PROVOCATIONS[code];
  return {
    id: `err.specific.${code}`,
    says: `${code} goes with ${status}: ${meaning}.`,
    reach,
    writes,
    watch: (exchange) => {
      if (problemOf(exchange)?.code !== code) return undefined;
      const any4xx = code === 'forge_repository_inaccessible' && exchange.status >= 400 && exchange.status < 500;
      return exchange.status === status || any4xx || `${code} came with ${exchange.status}`;
    },
    check: async (t) => {
      const answer = await provoke(t);
      if (instead === undefined) expectCode(answer, status, code);
      else t.tolerate(...(instead.slice(0, 2) as [string, string]), answer, instead[2]);
    },
  };
}

export const specificCodes = defineRules('Errors', 'specific-codes', [
  ...Object.entries(SPECIFIC).map(([code, facts]) => specific(code, facts)),
  {
    id: 'err.thawing.retry-after',
    says: 'repository_thawing says when to come back.',
    reach: 'emulator',
    check: async (t) => {
      t.needsEmulator();
      const answer = await getRepo(t, (await t.world.sample(t)).name, { fault: 'repository_thawing' });
      expectCode(answer, 409, 'repository_thawing');
      expectMatch(answer.header('retry-after'), /^(\d+|[A-Z][a-z]{2}, .* GMT)$/, 'Retry-After is seconds or a date');
    },
  },
  {
    id: 'err.forge-inaccessible.status',
    says: 'forge_repository_inaccessible has 412 or the status that the forge gave.',
    reach: 'emulator',
    writes: true,
    check: async (t) => {
      t.needsEmulator();
      const { name } = await t.world.sample(t);
      const answer = await getRepo(t, name, { fault: 'code:forge_repository_inaccessible' });
      if (answer.code === undefined) throw new NotHere('the forge cannot be made to refuse');
      expectMatch(answer.code, /^[a-z0-9]+_repository_inaccessible$/, 'the code');
      expectTrue(answer.status >= 400 && answer.status < 500, 'the status is 412 or another 4xx', answer.status);
      expectStatus(await getRepo(t, name), 200);
    },
  },
]);
