import { packLines } from '../../api/commit-pack.js';
import { AUTHOR, mustTipOf } from '../../api/requests.js';
import type { OperationRequest } from './operation.js';
import { MERGER } from './operations.js';
import type { TestRepository } from './test-repository.js';

/** One request in the names of older and of newer clients, and the names that its answer is read by. */
export interface RenamedFields {
  readonly operation: string;
  /** Whether the specification shows its /api/v1 route. */
  readonly isDocumented?: boolean;
  readonly old: (repository: TestRepository) => Promise<OperationRequest> | OperationRequest;
  readonly new: (repository: TestRepository) => Promise<OperationRequest> | OperationRequest;
  /** Members of the answer that say the same: the old name, then the new one. */
  readonly aliases?: readonly (readonly [old: string, new: string])[];
}

const RESULT = [['result.branch', 'result.target_branch']] as const;
const HEAD = ['expected_head_sha', 'expected_target_sha'] as const;

/** A new branch, with its tip as the one that is expected. */
async function target(repository: TestRepository, name: (typeof HEAD)[number]): Promise<object> {
  const branch = await repository.createBranch();
  return { target_branch: branch, [name]: await mustTipOf(repository.t, repository.name, branch) };
}

export const RENAMED_FIELDS: readonly RenamedFields[] = [
  {
    operation: 'get repository',
    old: () => ({}),
    new: () => ({}),
    aliases: [['url', 'repo_name']],
  },
  {
    operation: 'get commit',
    old: () => ({ query: { sha: 'main' } }),
    new: () => ({ query: { ref: 'main' } }),
  },
  {
    operation: 'list commits',
    old: () => ({ query: { branch: 'main' } }),
    new: () => ({ query: { ref: 'main' } }),
  },
  {
    operation: 'commit diff',
    old: async (repository) => ({
      query: { sha: await repository.createBranch(), baseSha: repository.tip, gitApplyCompatible: 'true' },
    }),
    new: async (repository) => ({
      query: { ref: await repository.createBranch(), base_ref: repository.tip, git_apply_compatible: 'true' },
    }),
  },
  {
    operation: 'merge',
    old: async (repository) => ({
      json: {
        source_branch: await repository.createBranch(),
        target_branch: await repository.createBranch(),
        strategy: 'merge',
        ...MERGER,
      },
    }),
    new: async (repository) => ({
      json: {
        source_ref: await repository.createBranch(),
        target_branch: await repository.createBranch(),
        strategy: 'merge',
        ...MERGER,
      },
    }),
    aliases: [['source.branch', 'source.ref']],
  },
  {
    operation: 'create tag',
    old: (repository) => ({ json: { name: repository.unusedName('v'), target: repository.tip } }),
    new: (repository) => ({ json: { name: repository.unusedName('v'), ref: 'main' } }),
  },
  {
    operation: 'delete branch',
    old: async (repository) => ({ json: { name: await repository.createBranch() } }),
    new: async (repository) => ({ json: { target_branch: await repository.createBranch() } }),
    aliases: [['name', 'target_branch']],
  },
  {
    operation: 'read note',
    old: async (repository) => ({ query: { sha: await repository.createCommit('noted'), ref: 'commits' } }),
    new: async (repository) => ({
      query: { object_ref: await repository.createCommit('noted'), notes_ref: 'commits' },
    }),
  },
  {
    operation: 'add note',
    isDocumented: true,
    old: async (repository) => ({ json: { sha: await repository.createCommit(), note: 'x', ref: 'reviews' } }),
    new: async (repository) => ({
      json: { object_ref: await repository.createCommit(), note: 'x', notes_ref: 'reviews' },
    }),
    aliases: [['target_ref', 'notes_ref']],
  },
  {
    operation: 'restore-commit',
    isDocumented: true,
    old: async (repository) => ({
      lines: [
        { metadata: { ...(await target(repository, HEAD[0])), target_commit_sha: repository.tip, author: AUTHOR } },
      ],
    }),
    new: async (repository) => ({
      lines: [{ metadata: { ...(await target(repository, HEAD[1])), base_ref: repository.tip, author: AUTHOR } }],
    }),
    aliases: RESULT,
  },
  {
    operation: 'commit-pack',
    isDocumented: true,
    old: async (repository) => ({ lines: packLines({ 'old.txt': 'x' }, await target(repository, HEAD[0])) }),
    new: async (repository) => ({ lines: packLines({ 'new.txt': 'x' }, await target(repository, HEAD[1])) }),
    aliases: RESULT,
  },
];

/** Commits that expect a tip which has moved on: a name that is not read lets them through. */
export async function staleHeadRequests(
  repository: TestRepository,
): Promise<{ name: string; request: OperationRequest }[]> {
  const target_branch = await repository.createBranch();
  return HEAD.map((name) => ({
    name,
    request: { lines: packLines({ 'stale.txt': 'x' }, { target_branch, [name]: repository.tip }) },
  }));
}
