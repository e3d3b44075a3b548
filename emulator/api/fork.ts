import { requireScopes } from '../auth/claims.js';
import { bytesOf, textOf } from '../git/object/bytes.js';
import type { Oid } from '../git/object/object.js';
import { Problem, problem } from '../http/problem.js';
import type { HandlerContext } from '../operation/handler-context.js';
import { repositoryNotFound } from '../repositories/lifecycle.js';
import { meetState } from '../repositories/meet-state.js';
import type { Repository } from '../repositories/repository.js';
import type { Base } from './base-repository.js';
import { resolveRef } from './resolve.js';

const MAIN = bytesOf('main');

/** Where a fork or a snapshot starts. */
export interface ForkPoint {
  readonly source: Repository;
  /** Undefined for an empty source. */
  readonly commit: Oid | undefined;
  /** The source's default branch, which is the fork's too unless the client says otherwise. */
  readonly defaultBranch: string;
}

/**
 * Finds the source of a fork. The token in `base_repo` has to give `git:read` on it; the token of the request
 * is about the new repository. Throws what a read of the source with that token would be answered.
 */
export async function findForkPoint(
  ctx: Pick<HandlerContext, 'world' | 'organization' | 'meter' | 'note'>,
  base: Exclude<Base, { kind: 'sync' }>,
): Promise<ForkPoint> {
  const { world, organization, meter } = ctx;
  try {
    const { authenticator } = world.engine;
    const question = world.authenticationOf(`Bearer ${base.token}`, 'api', organization);
    const { claims } = authenticator.recall(question) ?? (await authenticator.prove(question));
    requireScopes(claims, ['git:read']);
    if (claims.repo !== base.source) throw repositoryNotFound();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    // The words are about another token than the request's, and no challenge would help.
    throw problem(error.code, `base_repo: ${error.detail}`);
  }
  const source = world.state.repositories.find(organization.name, base.source);
  if (!source) throw repositoryNotFound();
  meetState(source, { id: 'createRepository', effect: 'read' }, world.moment);
  const isEmpty = base.revision === undefined && source.git.refs.headOid === undefined;
  const at = { repository: source, meter, note: (why: string) => ctx.note(why) };
  const commit = isEmpty ? undefined : (await resolveRef(at, { ref: base.revision ?? 'HEAD' })).commit;
  return { source, commit, defaultBranch: textOf(source.defaultBranch ?? MAIN) };
}
