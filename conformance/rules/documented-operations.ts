import { COMMIT_PACK, commitFiles, packLines } from '../api/commit-pack.js';
import {
  AUTHOR,
  archive,
  createRepo,
  fileMetadata,
  getCommit,
  getFile,
  getRepo,
  grep,
  listBranches,
  listCommits,
  listRepos,
  RESTORE,
  resetRoute,
  writeNote,
} from '../api/requests.js';
import type { Answer } from '../check/answer.js';
import type { RequestOptions, RuleContext } from '../check/rule-context.js';
import { groupRepository, sampleRepository } from '../fixtures/repositories.js';

export const SCOPES = ['git:read', 'git:write', 'repo:write', 'org:read'] as const;
export type Scope = (typeof SCOPES)[number];

/** One documented operation, as the rules about credentials try it: a request that is right in everything else. */
export interface Probe {
  /** Its part of a rule's id. */
  readonly name: string;
  readonly route: string;
  /** The one scope it takes. */
  readonly scope: Scope;
  readonly writes: boolean;
  /** Tolerated answers to a token without that scope, the best supported first. */
  readonly lacksScope: readonly string[];
  /** The repository it is tried on. */
  readonly repo: (t: RuleContext) => Promise<string>;
  readonly send: (t: RuleContext, repo: string, ask: RequestOptions) => Promise<Answer>;
  /** What a request that has to succeed needs beforehand. */
  readonly prepare?: (t: RuleContext, repo: string) => Promise<void>;
  /** Whether parameters are not shown, so that only 401 and 403 count as failures. */
  readonly loose?: boolean;
}

const AGREED = ['403 insufficient_scope'] as const;
const DISPUTED = ['403 insufficient_scope', '401'] as const;

const sample = async (t: RuleContext) => (await sampleRepository(t)).name;
const scratch = async (t: RuleContext) => (await groupRepository(t)).name;

async function restoreLines(t: RuleContext, repo: string): Promise<unknown[]> {
  const { tip } = await groupRepository(t);
  const target = repo === (await scratch(t)) ? tip : '0123456789012345678901234567890123456789';
  return [{ metadata: { target_branch: 'main', target_commit_sha: target, author: AUTHOR } }];
}

/** Makes sure that restoring the seed commit changes something. */
async function moveOn(t: RuleContext, repo: string): Promise<void> {
  await commitFiles(t, repo, { 'moved.txt': t.uniqueName() });
}

type ProbeRow = Omit<Probe, 'scope' | 'writes' | 'repo'>;

const READS: readonly ProbeRow[] = [
  {
    name: 'grep',
    route: 'POST /api/v1/repos/grep',
    lacksScope: AGREED,
    send: (t, repo, ask) => grep(t, repo, { query: { pattern: 'e' } }, ask),
  },
  {
    name: 'filemeta',
    route: 'GET /api/v1/repos/files/metadata',
    lacksScope: ['403'],
    send: (t, repo, ask) => fileMetadata(t, repo, {}, ask),
  },
  {
    name: 'commit',
    route: 'GET /api/v1/repos/commit',
    lacksScope: DISPUTED,
    send: (t, repo, ask) => getCommit(t, repo, 'main', ask),
  },
  {
    name: 'archive',
    route: 'POST /api/v1/repos/archive',
    lacksScope: AGREED,
    send: (t, repo, ask) => archive(t, repo, {}, ask),
  },
  {
    name: 'file',
    route: 'GET /api/v1/repos/file',
    lacksScope: DISPUTED,
    send: (t, repo, ask) => getFile(t, repo, { path: 'README.md' }, ask),
  },
  {
    name: 'repo',
    route: 'GET /api/v1/repo',
    lacksScope: AGREED,
    send: (t, repo, ask) => getRepo(t, repo, ask),
  },
  {
    name: 'branches',
    route: 'GET /api/repos/{repo_name}/branches',
    lacksScope: AGREED,
    loose: true,
    send: (t, repo, ask) => listBranches(t, repo, ask),
  },
  {
    name: 'commits',
    route: 'GET /api/v1/repos/commits',
    lacksScope: AGREED,
    loose: true,
    send: (t, repo, ask) => listCommits(t, repo, {}, ask),
  },
  {
    name: 'diff',
    route: 'GET /api/v1/repos/diff',
    lacksScope: AGREED,
    loose: true,
    send: (t, repo, ask) => t.get('/api/v1/repos/diff', { query: { sha: 'main' }, as: { repo }, ...ask }),
  },
];

const WRITES: readonly ProbeRow[] = [
  {
    name: 'restore',
    route: 'POST /api/v1/repos/restore-commit',
    lacksScope: AGREED,
    prepare: moveOn,
    send: async (t: RuleContext, repo: string, ask: RequestOptions) =>
      t.post(RESTORE, { as: { repo, scopes: ['git:write'] }, lines: await restoreLines(t, repo), ...ask }),
  },
  {
    name: 'reset',
    route: 'POST /api/repos/{repo_name}/reset-commits',
    lacksScope: AGREED,
    prepare: moveOn,
    send: async (t: RuleContext, repo: string, ask: RequestOptions) =>
      t.post(resetRoute(repo), { as: { repo, scopes: ['git:write'] }, lines: await restoreLines(t, repo), ...ask }),
  },
  {
    name: 'pack',
    route: 'POST /api/v1/repos/commit-pack',
    lacksScope: DISPUTED,
    send: (t: RuleContext, repo: string, ask: RequestOptions) =>
      t.post(COMMIT_PACK, {
        as: { repo, scopes: ['git:write'] },
        lines: packLines({ 'probe.txt': t.uniqueName() }),
        ...ask,
      }),
  },
  {
    name: 'notes',
    route: 'POST /api/v1/repos/notes',
    lacksScope: DISPUTED,
    send: async (t: RuleContext, repo: string, ask: RequestOptions) => {
      const { tip } = await groupRepository(t);
      return writeNote(
        t,
        repo,
        { sha: tip, action: 'append', note: 'probe' },
        { as: { repo, scopes: ['git:write'] }, ...ask },
      );
    },
  },
];

const OTHERS: readonly Probe[] = [
  {
    name: 'create-repo',
    route: 'POST /api/repos',
    scope: 'repo:write',
    writes: true,
    lacksScope: AGREED,
    repo: async (t) => {
      const name = t.uniqueName();
      await t.run.onRepository(name);
      return name;
    },
    send: (t, repo, ask) => createRepo(t, repo, ask),
  },
  {
    name: 'list-repos',
    route: 'GET /api/repos',
    scope: 'org:read',
    writes: false,
    lacksScope: AGREED,
    repo: sample,
    send: (t, _repo, ask) => listRepos(t, {}, ask),
  },
  {
    name: 'meta',
    route: 'GET /api/meta',
    scope: 'org:read',
    writes: false,
    lacksScope: AGREED,
    repo: sample,
    send: (t, _repo, ask) => t.get('/api/meta', ask),
  },
];

export const PROBES: readonly Probe[] = [
  ...READS.map((row): Probe => ({ scope: 'git:read', writes: false, repo: sample, ...row })),
  ...WRITES.map((row): Probe => ({ scope: 'git:write', writes: true, repo: scratch, ...row })),
  ...OTHERS,
];

export function probeOf(name: string): Probe {
  const probe = PROBES.find((one) => one.name === name);
  if (probe === undefined) throw new Error(`no operation is called ${name}`);
  return probe;
}
