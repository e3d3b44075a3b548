import { z } from 'zod';
import { requireScopes } from '../auth/claims.js';
import { problem } from '../http/problem.js';
import { lazy } from '../memory/lazy.js';
import type { HandlerContext } from '../operation/operation.js';
import { presentWhen } from '../operation/reply-schema.js';
import { changeHosting, type HostingProject, hostingSettings } from '../repositories/hosting.js';
import type { Repository } from '../repositories/repository.js';
import type { Organization } from '../world/organizations.js';
import { readBranch } from './fields.js';

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,255}$/;

/**
 * Schema of a hosting project (deployment settings of a repository) in responses. Environment variables are omitted,
 * because they may be secret.
 */
export const hostingOfResponse = lazy(() => presentWhen(hostingSettings(), 'the repository has a hosting project'));

/** Schema of the member `deployment` in the requests that create or update a repository. */
export const hostingBody = lazy(() =>
  hostingSettings()
    .extend({
      project_name: z
        .string()
        .regex(
          /^[^\p{Cc}\p{Surrogate}/]{1,100}$/u,
          'must be a project name of 1 to 100 characters, without slashes and control characters',
        ),
      env: z.record(
        z
          .string()
          .regex(
            VARIABLE,
            'must be the name of an environment variable: letters, digits and _, not beginning with a digit',
          ),
        z.string().nullable(),
      ),
    })
    .partial(),
);
export type HostingBody = z.infer<ReturnType<typeof hostingBody>>;

export function showHosting({ env: _, ...settings }: HostingProject) {
  return settings;
}

export function requireHosting(organization: Organization): void {
  if (!organization.hostingEnabled) {
    throw problem(
      'hosting_not_enabled',
      'Hosting is not enabled for the organization. Start the emulator with --hosting on to enable it.',
    );
  }
}

/**
 * Throws unless the request's token may change the hosting settings in `body`. A change of environment variables
 * requires the scope `deployment:write`.
 */
export function requireMayChange(
  { organization, claims }: Pick<HandlerContext, 'organization' | 'claims'>,
  body: HostingBody,
): void {
  requireHosting(organization);
  if (body.env !== undefined) requireScopes(claims, ['deployment:write']);
}

/**
 * Returns the hosting project (deployment settings) of the repository `name` after a change. Project names are unique
 * in the organization, so the caller must store the project without an `await` in between. `repository` is undefined
 * while the repository is being created. Throws `deployment_project_name_in_use`.
 */
export function planHosting(
  { world, organization }: Pick<HandlerContext, 'world' | 'organization'>,
  name: string,
  repository: Repository | undefined,
  body: HostingBody,
): HostingProject {
  if (typeof body.production_branch === 'string') readBranch(body.production_branch, 'deployment.production_branch');
  const taken = new Set<string>();
  for (const other of world.state.repositories.list(organization.name)) {
    const { hosting } = other.record;
    if (hosting && other.id !== repository?.id) taken.add(hosting.project_name);
  }
  if (body.project_name !== undefined && taken.has(body.project_name)) {
    throw problem(
      'deployment_project_name_in_use',
      `Another repository already uses the project name ${JSON.stringify(body.project_name)}. Choose another project_name.`,
    );
  }
  return changeHosting(repository?.record.hosting, body, freeName(name.replaceAll('/', '-'), taken));
}

/** Returns `name` if it is not in `taken`. Otherwise returns the first free name of `name-2`, `name-3` and so on. */
function freeName(name: string, taken: ReadonlySet<string>): string {
  let candidate = name;
  for (let count = 2; taken.has(candidate); count++) candidate = `${name}-${count}`;
  return candidate;
}
