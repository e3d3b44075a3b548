import { commitFiles, packLines, sendPack } from '../api/commit-pack.js';
import {
  ABSENT_SHA,
  archive,
  createRepo,
  getCommit,
  getFile,
  getRepo,
  grep,
  listBranches,
  listCommits,
  listRepos,
  reset,
  restore,
  restoreMetadata,
  writeNote,
} from '../api/requests.js';
import type { Answer } from '../check/answer.js';
import { expectProblem } from '../check/expect.js';
import type { RequestOptions, RuleContext } from '../check/rule-context.js';
import { listSample, sampleContent, sampleFile } from '../fixtures/content.js';
import { groupRepository, reserveName, sampleRepository } from '../fixtures/repositories.js';
import { type RuleRow, rulesBy } from './rule.js';

export const SCOPES = ['git:read', 'git:write', 'repo:write', 'org:read'] as const;
export type Scope = (typeof SCOPES)[number];

/** `git:read` as part of an id. */
export function slug(scope: Scope): string {
  return scope.replace(':', '-');
}

/** One documented operation, as the rules about tokens try it: a request that is right in everything else. */
export interface DocumentedOperation {
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
  readonly send: (t: RuleContext, repo: string, options: RequestOptions) => Promise<Answer>;
  /** What a request that has to succeed needs beforehand. */
  readonly prepare?: (t: RuleContext, repo: string) => Promise<void>;
  /** Whether parameters are not shown, so that only 401 and 403 count as failures. */
  readonly isLoose?: boolean;
}

const USUAL = { lacksScope: ['403 insufficient_scope'] } as const;
const DISPUTED = ['403 insufficient_scope', '401'] as const;

const ofSample = async (t: RuleContext) => (await sampleRepository(t)).name;
const ofContent = async (t: RuleContext) => (await sampleContent(t)).name;
const ofGroup = async (t: RuleContext) => (await groupRepository(t)).name;

/** What restores the seed commit of the group. */
async function restoreSeed(t: RuleContext, repo: string): Promise<object> {
  const { name, tip } = await groupRepository(t);
  return restoreMetadata(repo === name ? tip : ABSENT_SHA);
}

/** Makes sure that restoring the seed commit changes something. */
async function commitSomething(t: RuleContext, repo: string): Promise<void> {
  await commitFiles(t, repo, { 'moved.txt': t.uniqueName() });
}

/** A row of an operation, without what the rows of its table share. */
type OperationRow = Pick<DocumentedOperation, 'name' | 'route' | 'send'> & Partial<DocumentedOperation>;

const READS: readonly OperationRow[] = [
  {
    name: 'grep',
    route: 'POST /api/v1/repos/grep',
    send: (t, repo, options) => grep(t, repo, { query: { pattern: 'e' } }, options),
  },
  {
    name: 'filemeta',
    route: 'GET /api/v1/repos/files/metadata',
    lacksScope: ['403'],
    send: (t, repo, options) => listSample(t, repo, {}, options),
  },
  {
    name: 'commit',
    route: 'GET /api/v1/repos/commit',
    lacksScope: DISPUTED,
    send: async (t, repo, options) => getCommit(t, repo, (await sampleContent(t)).branch, options),
  },
  {
    name: 'archive',
    route: 'POST /api/v1/repos/archive',
    send: (t, repo, options) => archive(t, repo, {}, options),
  },
  {
    name: 'file',
    route: 'GET /api/v1/repos/file',
    lacksScope: DISPUTED,
    send: async (t, repo, options) => getFile(t, repo, { path: (await sampleFile(t)).path }, options),
  },
  {
    name: 'repo',
    route: 'GET /api/v1/repo',
    repo: ofSample,
    send: getRepo,
  },
  {
    name: 'branches',
    route: 'GET /api/repos/{repo_name}/branches',
    repo: ofSample,
    isLoose: true,
    send: listBranches,
  },
  {
    name: 'commits',
    route: 'GET /api/v1/repos/commits',
    isLoose: true,
    send: (t, repo, options) => listCommits(t, repo, {}, options),
  },
  {
    name: 'diff',
    route: 'GET /api/v1/repos/diff',
    isLoose: true,
    send: async (t, repo, options) => {
      const query = { sha: (await sampleContent(t)).branch };
      return t.get('/api/v1/repos/diff', { query, as: { repo }, ...options });
    },
  },
];

const WRITES: readonly OperationRow[] = [
  {
    name: 'restore',
    route: 'POST /api/v1/repos/restore-commit',
    prepare: commitSomething,
    send: async (t, repo, options) => restore(t, repo, await restoreSeed(t, repo), options),
  },
  {
    name: 'reset',
    route: 'POST /api/repos/{repo_name}/reset-commits',
    prepare: commitSomething,
    send: async (t, repo, options) => reset(t, repo, await restoreSeed(t, repo), options),
  },
  {
    name: 'pack',
    route: 'POST /api/v1/repos/commit-pack',
    lacksScope: DISPUTED,
    send: (t, repo, options) => sendPack(t, repo, packLines({ 'probe.txt': t.uniqueName() }), options),
  },
  {
    name: 'notes',
    route: 'POST /api/v1/repos/notes',
    lacksScope: DISPUTED,
    send: async (t, repo, options) => {
      const { tip } = await groupRepository(t);
      return writeNote(t, repo, { sha: tip, action: 'append', note: 'probe' }, options);
    },
  },
];

const OF_ORGANIZATION: readonly OperationRow[] = [
  {
    name: 'create-repo',
    route: 'POST /api/repos',
    scope: 'repo:write',
    writes: true,
    repo: reserveName,
    send: createRepo,
  },
  {
    name: 'list-repos',
    route: 'GET /api/repos',
    send: (t, _repo, options) => listRepos(t, {}, options),
  },
  {
    name: 'meta',
    route: 'GET /api/meta',
    send: (t, _repo, options) => t.get('/api/meta', options),
  },
];

export const DOCUMENTED_OPERATIONS: readonly DocumentedOperation[] = [
  ...READS.map((row) => ({ ...USUAL, scope: 'git:read' as const, writes: false, repo: ofContent, ...row })),
  ...WRITES.map((row) => ({ ...USUAL, scope: 'git:write' as const, writes: true, repo: ofGroup, ...row })),
  ...OF_ORGANIZATION.map((row) => ({ ...USUAL, scope: 'org:read' as const, writes: false, repo: ofSample, ...row })),
];

/** An operation on the sample, on which this fault is forced: for rules of reach `emulator`. */
export async function withFault(t: RuleContext, name: string, fault: string): Promise<Answer> {
  return documentedOperation(name).send(t, await ofSample(t), { fault });
}

/** The same as what a check looks at. */
export const faulted = (name: string, fault: string) => (t: RuleContext) => withFault(t, name, fault);

/** Rules that an operation on which a code is forced answers it, as `check` wants to see it. */
export function forcedFailures(
  name: string,
  rows: readonly (readonly [id: string, says: string, status: number, code: string])[],
  check: (answer: Answer, status: number, code: string) => void = expectProblem,
): RuleRow[] {
  const answers = async (t: RuleContext, status: number, code: string) =>
    check(await withFault(t, name, code), status, code);
  return rulesBy(answers, rows, { reach: 'emulator' });
}

export function documentedOperation(name: string): DocumentedOperation {
  const operation = DOCUMENTED_OPERATIONS.find((one) => one.name === name);
  if (operation === undefined) throw new Error(`no operation is called ${name}`);
  return operation;
}
