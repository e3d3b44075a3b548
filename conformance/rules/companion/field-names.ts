import { packLines } from '../../api/commit-pack.js';
import { AUTHOR, mustTipOf } from '../../api/requests.js';
import { isRecord } from '../../http/exchange.js';
import { operationOf } from './call-operation.js';
import type { OperationRequest } from './operation.js';
import type { TestRepository } from './test-repository.js';

export const WORDINGS = ['old', 'new'] as const;
type Wording = (typeof WORDINGS)[number];

/**
 * Operation whose request or response members have an old and a new name. Older clients use the old names, newer
 * clients the new names.
 */
export interface RenamedFields {
  readonly operation: string;
  /** True if the specification documents the `/api/v1` route of the operation. */
  readonly isDocumented?: boolean;
  /** Builds the request with the old names. Default: the operation's request in the table of operations. */
  readonly request?: (repository: TestRepository, wording: Wording) => Promise<OperationRequest> | OperationRequest;
  /** Renamed members of the request. Maps each old name to the new name. */
  readonly names: Readonly<Record<string, string>>;
  /**
   * Renamed members of the response, as pairs of old and new name. The response has both members, with equal values.
   */
  readonly aliases?: readonly (readonly [old: string, new: string])[];
}

const RESULT = [['result.branch', 'result.target_branch']] as const;
const HEAD = ['expected_head_sha', 'expected_target_sha'] as const;
const NEW_HEAD = { [HEAD[0]]: HEAD[1] };
const NEW_NOTE = { sha: 'object_ref', ref: 'notes_ref' };

/**
 * Creates a branch and returns two request members for a write to it: the branch name, and its tip as the expected
 * commit.
 */
async function target(repository: TestRepository): Promise<object> {
  const branch = await repository.createBranch();
  return { target_branch: branch, [HEAD[0]]: await mustTipOf(repository.t, repository.name, branch) };
}

export const RENAMED_FIELDS: readonly RenamedFields[] = [
  { operation: 'get repository', names: {}, aliases: [['url', 'repo_name']] },
  { operation: 'get commit', names: { sha: 'ref' } },
  { operation: 'list commits', request: ({ branch }) => ({ query: { branch } }), names: { branch: 'ref' } },
  {
    operation: 'commit diff',
    request: async (repository) => ({
      query: { sha: await repository.createBranch(), baseSha: repository.tip, gitApplyCompatible: 'true' },
    }),
    names: { sha: 'ref', baseSha: 'base_ref', gitApplyCompatible: 'git_apply_compatible' },
  },
  {
    operation: 'merge',
    names: { source_branch: 'source_ref' },
    aliases: [['source.branch', 'source.ref']],
  },
  {
    operation: 'create tag',
    request: (repository, wording) => ({
      json: { name: repository.unusedName('v'), target: wording === 'old' ? repository.tip : repository.branch },
    }),
    names: { target: 'ref' },
  },
  {
    operation: 'delete branch',
    names: { name: 'target_branch' },
    aliases: [['name', 'target_branch']],
  },
  {
    operation: 'read note',
    request: async (repository) => ({ query: { sha: await repository.createCommit('noted'), ref: 'commits' } }),
    names: NEW_NOTE,
  },
  {
    operation: 'add note',
    isDocumented: true,
    request: async (repository) => ({ json: { sha: await repository.createCommit(), note: 'x', ref: 'reviews' } }),
    names: NEW_NOTE,
    aliases: [['target_ref', 'notes_ref']],
  },
  {
    operation: 'restore-commit',
    isDocumented: true,
    request: async (repository) => ({
      lines: [{ metadata: { ...(await target(repository)), target_commit_sha: repository.tip, author: AUTHOR } }],
    }),
    names: { ...NEW_HEAD, target_commit_sha: 'base_ref' },
    aliases: RESULT,
  },
  {
    operation: 'commit-pack',
    isDocumented: true,
    request: async (repository, wording) => ({
      lines: packLines(repository.t, { [`${wording}.txt`]: 'x' }, await target(repository)),
    }),
    names: NEW_HEAD,
    aliases: RESULT,
  },
];

/** Builds the request of a renamed operation, with either the old or the new member names. */
export async function wordedRequest(
  { operation, request, names }: RenamedFields,
  wording: Wording,
  repository: TestRepository,
): Promise<OperationRequest> {
  const worded = await (request?.(repository, wording) ?? operationOf(operation).request(repository, 'v1'));
  return wording === 'old' ? worded : (rename(worded, names, 3) as OperationRequest);
}

/**
 * Renames members of a request, for example in its body, its NDJSON lines and their metadata. `depth` is the number of
 * levels to rename.
 */
function rename(value: unknown, names: Readonly<Record<string, string>>, depth: number): unknown {
  if (Array.isArray(value)) return value.map((item) => rename(item, names, depth));
  if (!isRecord(value) || depth === 0) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [names[name] ?? name, rename(member, names, depth - 1)]),
  );
}

/**
 * Builds one commit request for each name of the member that states the expected tip. The stated tip is outdated, so
 * the request succeeds only if the server ignores the member.
 */
export async function staleHeadRequests(
  repository: TestRepository,
): Promise<{ name: string; request: OperationRequest }[]> {
  const target_branch = await repository.createBranch();
  return HEAD.map((name) => ({
    name,
    request: { lines: packLines(repository.t, { 'stale.txt': 'x' }, { target_branch, [name]: repository.tip }) },
  }));
}
