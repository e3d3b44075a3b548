import { type Mutant, patched, proxied } from '../mutant.js';
import { API, CREATE } from '../places.js';
import { changesJson, changesRequest, changesStatus } from '../rewrites.js';

interface ProblemBody {
  code?: string;
}

/** Generic error code of each status, and the wrong code that a mutant sends instead. */
const GENERIC: Readonly<Record<number, readonly [code: string, other: string]>> = {
  400: ['bad_request', 'unprocessable_entity'],
  401: ['unauthorized', 'forbidden'],
  403: ['forbidden', 'unauthorized'],
  404: ['not_found', 'bad_request'],
  405: ['method_not_allowed', 'bad_request'],
  408: ['request_timeout', 'gateway_timeout'],
  412: ['precondition_failed', 'conflict'],
  413: ['payload_too_large', 'bad_request'],
  422: ['unprocessable_entity', 'bad_request'],
  429: ['rate_limited', 'service_unavailable'],
  500: ['internal_error', 'bad_gateway'],
  501: ['not_implemented', 'internal_error'],
  502: ['bad_gateway', 'internal_error'],
  503: ['service_unavailable', 'internal_error'],
  504: ['gateway_timeout', 'internal_error'],
};

/** Specific error codes, and the generic code that a mutant sends instead. */
const SPECIFIC: Readonly<Record<string, string>> = {
  authentication_unavailable: 'forbidden',
  repo_claim_missing: 'bad_request',
  repo_name_mismatch: 'bad_request',
  route_not_found: 'not_found',
  repository_not_found: 'not_found',
  repository_deleted: 'conflict',
  repository_thawing: 'conflict',
  sync_in_progress: 'conflict',
  upstream_already_configured: 'conflict',
  credential_not_found: 'not_found',
  credential_exists: 'conflict',
  forge_app_not_configured: 'precondition_failed',
  forge_repository_inaccessible: 'precondition_failed',
  hosting_project_not_found: 'not_found',
  deployment_not_found: 'not_found',
  deployment_project_name_in_use: 'conflict',
  idempotency_key_reused: 'unprocessable_entity',
};

/** Makes the server send the error code `other` where `code` is right. */
const renames = (code: string, other: string) =>
  changesJson<ProblemBody>(API, (body) => {
    if (body.code === code) body.code = other;
  });

const kebab = (code: string): string => code.replaceAll('_', '-');

export const rows: readonly Mutant[] = [
  patched(
    'err-shows-deployments-of-other-repositories',
    'err.specific.deployment_not_found#other-repository',
    'finds the deployments of all repositories by their ids',
    {
      file: 'api/operations/deployments.js',
      find: 'ctx.repository.record.deployments?.get(ctx.params.deployment_id)',
      replace: `[...ctx.world.state.repositories.list(ctx.organization.name)]
        .flatMap(({ record }) => record.deployments?.get(ctx.params.deployment_id) ?? [])[0]`,
    },
  ),
  patched(
    'err-refuses-a-repository-its-own-project-name',
    'err.specific.deployment_project_name_in_use#own',
    'refuses a repository the project name that it has already',
    { file: 'api/hosting.js', find: 'if (hosting && other.id !== repository?.id)', replace: 'if (hosting)' },
  ),
  patched(
    'err-refuses-every-repeated-key',
    'err.specific.idempotency_key_reused#same',
    'refuses an idempotency key in a repeated request',
    { file: 'api/operations/deployments.js', find: 'if (earlier.request !== request)', replace: 'if (true)' },
  ),
  proxied(
    'err-ignores-the-ref-of-a-repeated-key',
    'err.specific.idempotency_key_reused#ref',
    'does not compare the ref of requests with the same idempotency key',
    changesRequest<{ ref?: string }>(/^POST .*\/deployments$/, (body) => {
      delete body.ref;
    }),
  ),
  ...Object.entries(GENERIC).map(([status, [code, other]]) =>
    proxied(
      `err-calls-a-${status}-${kebab(other)}`,
      `err.generic.${status}`,
      `has the code ${other} with ${status}`,
      renames(code, other),
    ),
  ),
  patched('err-calls-a-canceled-request-a-timeout', 'err.generic.499', 'calls a request that was canceled a timeout', {
    file: 'server/unreadable.js',
    find: "isCut ? problem('request_canceled'",
    replace: "isCut ? problem('request_timeout'",
  }),
  ...Object.entries(SPECIFIC).map(([code, generic]) =>
    proxied(
      `err-hides-${kebab(code)}`,
      `err.specific.${code}`,
      `has the code ${generic} in place of ${code}`,
      renames(code, generic),
    ),
  ),
  proxied(
    'err-calls-a-missing-branch-a-conflict',
    'err.specific.branch_not_found',
    'answers 409 where a branch does not exist',
    changesStatus(/commit-pack$/, 404, 409),
  ),
  proxied(
    'err-calls-a-missing-ref-gone',
    'err.specific.ref_not_found',
    'answers 410 where a ref does not exist',
    changesStatus(API, 404, 410),
  ),
  patched(
    'err-takes-one-of-several-forge-applications',
    'err.specific.forge_app_not_configured#several',
    'creates a repository with an upstream if the organization has several applications on the forge',
    { file: 'api/base-repository.js', find: 'organization.forgeApps === 1', replace: 'organization.forgeApps >= 1' },
  ),
  proxied(
    'err-passes-no-status-of-the-forge-on',
    'err.forge-inaccessible.status',
    'answers 502 where the forge does not let the upstream be read',
    changesStatus(CREATE, 412, 502),
  ),
];
