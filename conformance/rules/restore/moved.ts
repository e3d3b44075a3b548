import { commitFiles } from '../../api/commit-pack.js';
import { restore, restoreMetadata } from '../../api/requests.js';
import { expectStatus } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { groupRepository } from '../../fixtures/repositories.js';

/** Adds a commit to the group's shared repository. A restore of its first commit (`seed`) then changes something. */
export async function moved(t: RuleContext) {
  const { name, tip } = await groupRepository(t);
  return { name, seed: tip, last: await commitFiles(t, name, { 'moved.txt': t.uniqueName() }) };
}

/**
 * Adds a commit, then restores the first commit of the group's repository and expects success. Returns both commits and
 * the response.
 */
export async function restored(t: RuleContext, more: object = {}) {
  const { name, seed, last } = await moved(t);
  const response = expectStatus(await restore(t, name, restoreMetadata(t, seed, more)), 201);
  return { name, seed, last, response };
}
