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

/** Values of `base_repo.provider` that name this service. The base is then a repository of the same organization. */
const OURSELVES = ['code', 'code.storage'];

/**
 * Schema of the member `base_repo` in a request that creates a repository. It names the repository from which the new
 * repository is filled. The required members depend on the provider and the operation.
 */
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
      .regex(/^[0-9a-f]{40}$/, 'must be a full commit id: 40 lower-case hexadecimal digits')
      .optional(),
    auth: z
      .object({
        auth_type: z.string().optional(),
        token: z.string().regex(/^\S+$/, 'must be a JWT, without white space').optional(),
      })
      .optional(),
  }),
);
export type BaseRepoBody = z.infer<ReturnType<typeof baseRepoBody>>;

/**
 * Origin of the content of a new repository:
 *
 * - `sync`: a repository on another forge (hosting service), whose later changes are fetched too
 * - `fork`: a repository of this service, with its history
 * - `snapshot`: the files of one commit of a repository of this service
 */
export type Base =
  | { readonly kind: 'sync'; readonly repository: BaseRepository }
  | {
      readonly kind: 'fork' | 'snapshot';
      readonly source: string;
      readonly token: string;
      readonly revision: string | undefined;
    };

/**
 * Converts `base_repo` of a request to the origin of the new repository. Throws `bad_request` if members are invalid or
 * contradict each other.
 */
export function readBase(body: BaseRepoBody): Base {
  return OURSELVES.includes(body.provider) ? readOwn(body) : readForge(body);
}

function readOwn({ operation = 'fork', name, ref, sha, auth }: BaseRepoBody): Base {
  if (operation === 'sync')
    throw invalid('operation', 'must be fork or snapshot, because sync is only for repositories of another provider');
  if (auth?.token === undefined)
    throw invalid('auth.token', 'is required, and must be a token with the scope git:read for the source repository');
  if (auth.auth_type !== undefined && auth.auth_type !== 'jwt')
    throw invalid('auth.auth_type', 'must be jwt for a repository of this service');
  if (operation === 'snapshot' && !ref) throw invalid('ref', 'is required for the operation snapshot');
  return { kind: operation, source: name, token: auth.token, revision: sha ?? (ref || undefined) };
}

function readForge(body: BaseRepoBody): Base {
  const { provider, operation = 'sync', owner, name, upstream_host: host, auth } = body;
  if (!isProvider(provider)) {
    throw invalid(
      'provider',
      `is ${JSON.stringify(provider.slice(0, 100))}, but must be one of ${[...PROVIDER_NAMES, ...OURSELVES].join(', ')}`,
    );
  }
  if (operation !== 'sync') throw invalid('operation', `must be sync for the provider ${provider}`);
  if (owner === undefined || !isPath(owner))
    throw invalid('owner', 'must be the user or organization that owns the repository at the provider');
  if (!isPath(name)) throw invalid('name', 'must be the name of the repository at the provider');
  if (host === undefined && needsHost(provider))
    throw invalid('upstream_host', `is required for the provider ${provider}`);
  if (host !== undefined && !isBareHost(host))
    throw invalid('upstream_host', 'must be a host name without scheme or path, such as git.example.com');
  if (provider === 'github' && host !== undefined)
    throw invalid('upstream_host', 'is not allowed for the provider github');
  if (auth?.auth_type !== undefined && auth.auth_type !== 'public')
    throw invalid('auth.auth_type', `must be public or absent for the provider ${provider}`);
  const access = provider !== 'github' ? 'credential' : auth?.auth_type === 'public' ? 'public' : 'app';
  return { kind: 'sync', repository: { provider, owner, name, host, access, runs: 0 } };
}

function invalid(member: string, why: string) {
  return problem('bad_request', `base_repo.${member} ${why}.`);
}

/**
 * Throws `forge_app_not_configured` unless the organization has exactly one forge application. It is needed to read the
 * organization's repositories on the forge (another hosting service).
 */
export function requireForgeApp(organization: Organization): void {
  if (organization.forgeApps === 1) return;
  throw problem(
    'forge_app_not_configured',
    `The organization has ${organization.forgeApps} forge applications, but must have exactly one (--forge-apps).`,
  );
}

/**
 * Throws `forge_repository_inaccessible` unless the upstream (repository on another hosting service) is readable.
 * Providers that need stored credentials are not checked, because the credentials are stored only after the new
 * repository exists.
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

/** Repository and commit from which a fork or a snapshot is made. */
export interface ForkPoint {
  readonly source: Repository;
  /** Commit to copy; undefined if the source has no commits. */
  readonly commit: Oid | undefined;
  /** Default branch of the source. The new repository uses it unless the request names another branch. */
  readonly defaultBranch: string;
}

/**
 * Finds the source repository and commit of a fork or snapshot. The token in `base_repo` must have the scope `git:read`
 * for the source. The request's own token is not enough, because it covers only the new repository. Throws the error
 * that a request to read the source would cause.
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
  // The new error has no `WWW-Authenticate` header. The header would ask for new request credentials, but only the
  // token in `base_repo` is invalid.
  await translateError(Problem, authenticate, ({ code, detail }) => problem(code, `base_repo: ${detail}`));
  const source = world.state.repositories.find(organization.name, base.source);
  if (!source) throw repositoryNotFound();
  source.meetState({ id: 'createRepository', effect: 'read' }, world.variants);
  const isEmpty = base.revision === undefined && source.git.refs.headOid === undefined;
  const at = { repository: source, meter, note: (why: string) => ctx.note(why) };
  const commit = isEmpty ? undefined : (await resolveRef(at, { ref: base.revision ?? 'HEAD' })).commit;
  return { source, commit, defaultBranch: textOf(source.defaultBranch ?? MAIN) };
}
