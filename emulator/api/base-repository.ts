import { z } from 'zod';
import { requireScopes } from '../auth/claims.js';
import { bytesOf, textOf } from '../git/object/bytes.js';
import type { Oid } from '../git/object/object.js';
import { Problem, problem, translateError } from '../http/problem.js';
import { lazy } from '../memory/lazy.js';
import type { HandlerContext } from '../operation/operation.js';
import { repositoryNotFound } from '../repositories/lifecycle.js';
import type { BaseRepository, Repository } from '../repositories/repository.js';
import { UpstreamError } from '../upstream/fetch-client.js';
import { isBareHost, isPath, isProvider, needsHost, PROVIDER_NAMES } from '../upstream/provider.js';
import type { Organization } from '../world/organizations.js';
import { resolveRef } from './resolve.js';

/** Names of this service as the provider of a base repository in the same organization. */
const OURSELVES = ['code', 'code.storage'];

/** Schema of `base_repo` in create repository. The provider and the operation decide which members are required. */
export const baseRepoBody = lazy(() =>
  z.object({
    provider: z.string(),
    operation: z.enum(['sync', 'fork', 'snapshot']).optional(),
    owner: z.string().optional(),
    name: z.string(),
    default_branch: z.string().optional(),
    upstream_host: z.string().optional(),
    ref: z.string().optional(),
    sha: z
      .string()
      .regex(/^[0-9a-f]{40}$/, 'must be 40 lower-case hexadecimal digits')
      .optional(),
    auth: z
      .object({
        auth_type: z.string().optional(),
        token: z.string().regex(/^\S+$/, 'must be a token').optional(),
      })
      .optional(),
  }),
);
export type BaseRepoBody = z.infer<ReturnType<typeof baseRepoBody>>;

/** Origin of a new repository. */
export type Base =
  | { readonly kind: 'sync'; readonly repository: BaseRepository }
  | {
      readonly kind: 'fork' | 'snapshot';
      readonly source: string;
      readonly token: string;
      readonly revision: string | undefined;
    };

/** Reads `base_repo`. Throws `bad_request` if it cannot be a base. */
export function readBase(body: BaseRepoBody): Base {
  return OURSELVES.includes(body.provider) ? readOwn(body) : readForge(body);
}

function readOwn({ operation = 'fork', name, ref, sha, auth }: BaseRepoBody): Base {
  if (operation === 'sync') throw invalid('operation', 'must be fork or snapshot for a repository of this service');
  if (auth?.token === undefined) throw invalid('auth.token', 'is required: a token with git:read on the source');
  if (auth.auth_type !== undefined && auth.auth_type !== 'jwt') throw invalid('auth.auth_type', 'must be jwt');
  if (operation === 'snapshot' && !ref) throw invalid('ref', 'is required for a snapshot');
  return { kind: operation, source: name, token: auth.token, revision: sha ?? (ref || undefined) };
}

function readForge(body: BaseRepoBody): Base {
  const { provider, operation = 'sync', owner, name, upstream_host: host, auth } = body;
  if (!isProvider(provider)) {
    throw invalid('provider', `must be one of ${[...PROVIDER_NAMES, ...OURSELVES].join(', ')}`);
  }
  if (operation !== 'sync') throw invalid('operation', `must be sync for the provider ${provider}`);
  if (owner === undefined || !isPath(owner)) throw invalid('owner', 'must be the owner of a repository');
  if (!isPath(name)) throw invalid('name', 'must be the name of a repository');
  if (host === undefined && needsHost(provider)) throw invalid('upstream_host', `is required for ${provider}`);
  if (host !== undefined && !isBareHost(host)) throw invalid('upstream_host', 'must be a host without scheme or path');
  if (provider === 'github' && host !== undefined) throw invalid('upstream_host', 'is not allowed for github');
  if (auth?.auth_type !== undefined && auth.auth_type !== 'public') throw invalid('auth.auth_type', 'must be public');
  const access = provider !== 'github' ? 'credential' : auth?.auth_type === 'public' ? 'public' : 'app';
  return { kind: 'sync', repository: { provider, owner, name, host, access, runs: 0 } };
}

function invalid(member: string, why: string) {
  return problem('bad_request', `base_repo.${member} ${why}.`);
}

/** Requires exactly one forge application, because it acts for the organization on the forge. */
export function requireForgeApp(organization: Organization): void {
  if (organization.forgeApps === 1) return;
  throw problem(
    'forge_app_not_configured',
    `The organization has ${organization.forgeApps} forge applications; exactly one is required.`,
  );
}

/**
 * Throws unless the upstream is readable. Only GitHub is checked before the repository exists, because the credentials
 * of other providers are stored in the repository.
 */
export async function requireAccess(
  { world, organization, signal }: Pick<HandlerContext, 'world' | 'organization' | 'signal'>,
  base: BaseRepository,
): Promise<void> {
  if (base.access === 'credential') return;
  if (base.access === 'app') requireForgeApp(organization);
  const probe = () => world.background.syncs.probe(organization.name, base, signal);
  await translateError(UpstreamError, probe, ({ status = 0, message }) => {
    return problem('forge_repository_inaccessible', message, status >= 400 && status < 500 ? { status } : {});
  });
}

const MAIN = bytesOf('main');

/** Start of a fork or of a snapshot. */
export interface ForkPoint {
  readonly source: Repository;
  /** Undefined if the source is empty. */
  readonly commit: Oid | undefined;
  /** Default branch of the source. It is the default branch of the fork unless the client names another one. */
  readonly defaultBranch: string;
}

/**
 * Finds the source of a fork. The token in `base_repo` must have the scope `git:read` for it, because the token of the
 * request covers only the new repository. Throws the problem with which a read of the source would be refused.
 */
export async function findForkPoint(
  ctx: Pick<HandlerContext, 'world' | 'organization' | 'meter' | 'note'>,
  base: Exclude<Base, { kind: 'sync' }>,
): Promise<ForkPoint> {
  const { world, organization, meter } = ctx;
  const authenticate = async () => {
    const { authenticator } = world.engine;
    const question = world.authenticationOf(`Bearer ${base.token}`, 'api', organization);
    const { claims } = authenticator.recall(question) ?? (await authenticator.prove(question));
    requireScopes(claims, ['git:read']);
    if (claims.repo !== base.source) throw repositoryNotFound();
  };
  // Replaces the error by one without WWW-Authenticate, because it is about the token in the member `base_repo` of the
  // body. A challenge would concern the credential of the request, which is valid.
  await translateError(Problem, authenticate, ({ code, detail }) => problem(code, `base_repo: ${detail}`));
  const source = world.state.repositories.find(organization.name, base.source);
  if (!source) throw repositoryNotFound();
  source.meetState({ id: 'createRepository', effect: 'read' }, world.variants);
  const isEmpty = base.revision === undefined && source.git.refs.headOid === undefined;
  const at = { repository: source, meter, note: (why: string) => ctx.note(why) };
  const commit = isEmpty ? undefined : (await resolveRef(at, { ref: base.revision ?? 'HEAD' })).commit;
  return { source, commit, defaultBranch: textOf(source.defaultBranch ?? MAIN) };
}
