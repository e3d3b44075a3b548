import { packLines } from '../../api/commit-pack.js';
import { AUTHOR, mustTipOf } from '../../api/requests.js';
import type { Demand } from './operation.js';
import { MERGER } from './operations.js';
import type { Bed } from './test-repository.js';

/** One request in the names of older and of newer clients, and the names that its answer is read by. */
export interface Wording {
  readonly operation: string;
  /** Whether the specification shows its /api/v1 route. */
  readonly isDocumented?: boolean;
  readonly old: (bed: Bed) => Promise<Demand> | Demand;
  readonly new: (bed: Bed) => Promise<Demand> | Demand;
  /** Members of the answer that say the same: the old name, then the new one. */
  readonly twins?: readonly (readonly [old: string, new: string])[];
}

const RESULT = [['result.branch', 'result.target_branch']] as const;
const HEAD = ['expected_head_sha', 'expected_target_sha'] as const;

/** A new branch, with its tip as the one that is expected. */
async function target(bed: Bed, name: (typeof HEAD)[number]): Promise<object> {
  const branch = await bed.branch();
  return { target_branch: branch, [name]: await mustTipOf(bed.t, bed.repo, branch) };
}

export const WORDINGS: readonly Wording[] = [
  {
    operation: 'get repository',
    old: () => ({}),
    new: () => ({}),
    twins: [['url', 'repo_name']],
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
    old: async (bed) => ({ query: { sha: await bed.branch(), baseSha: bed.tip, gitApplyCompatible: 'true' } }),
    new: async (bed) => ({ query: { ref: await bed.branch(), base_ref: bed.tip, git_apply_compatible: 'true' } }),
  },
  {
    operation: 'merge',
    old: async (bed) => ({
      json: { source_branch: await bed.branch(), target_branch: await bed.branch(), strategy: 'merge', ...MERGER },
    }),
    new: async (bed) => ({
      json: { source_ref: await bed.branch(), target_branch: await bed.branch(), strategy: 'merge', ...MERGER },
    }),
    twins: [['source.branch', 'source.ref']],
  },
  {
    operation: 'create tag',
    old: (bed) => ({ json: { name: bed.unused('v'), target: bed.tip } }),
    new: (bed) => ({ json: { name: bed.unused('v'), ref: 'main' } }),
  },
  {
    operation: 'delete branch',
    old: async (bed) => ({ json: { name: await bed.branch() } }),
    new: async (bed) => ({ json: { target_branch: await bed.branch() } }),
    twins: [['name', 'target_branch']],
  },
  {
    operation: 'read note',
    old: async (bed) => ({ query: { sha: await bed.commit('noted'), ref: 'commits' } }),
    new: async (bed) => ({ query: { object_ref: await bed.commit('noted'), notes_ref: 'commits' } }),
  },
  {
    operation: 'add note',
    isDocumented: true,
    old: async (bed) => ({ json: { sha: await bed.commit(), note: 'x', ref: 'reviews' } }),
    new: async (bed) => ({ json: { object_ref: await bed.commit(), note: 'x', notes_ref: 'reviews' } }),
    twins: [['target_ref', 'notes_ref']],
  },
  {
    operation: 'restore-commit',
    isDocumented: true,
    old: async (bed) => ({
      lines: [{ metadata: { ...(await target(bed, HEAD[0])), target_commit_sha: bed.tip, author: AUTHOR } }],
    }),
    new: async (bed) => ({
      lines: [{ metadata: { ...(await target(bed, HEAD[1])), base_ref: bed.tip, author: AUTHOR } }],
    }),
    twins: RESULT,
  },
  {
    operation: 'commit-pack',
    isDocumented: true,
    old: async (bed) => ({ lines: packLines({ 'old.txt': 'x' }, await target(bed, HEAD[0])) }),
    new: async (bed) => ({ lines: packLines({ 'new.txt': 'x' }, await target(bed, HEAD[1])) }),
    twins: RESULT,
  },
];

/** Commits that expect a tip which has moved on: a name that is not read lets them through. */
export async function guarded(bed: Bed): Promise<{ name: string; demand: Demand }[]> {
  const target_branch = await bed.branch();
  return HEAD.map((name) => ({
    name,
    demand: { lines: packLines({ 'stale.txt': 'x' }, { target_branch, [name]: bed.tip }) },
  }));
}
