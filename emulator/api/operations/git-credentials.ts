import { z } from 'zod';
import type { OperationId } from '../../config/operation-ids.js';
import { problem } from '../../http/problem.js';
import { empty, json } from '../../http/reply.js';
import { lazy } from '../../memory/lazy.js';
import { type HandlerContext, operationsOf, routesOfRepository } from '../../operation/operation.js';
import { repositoryNotFound } from '../../repositories/lifecycle.js';
import type { GitCredential, Repository } from '../../repositories/repository.js';
import { isoTime } from '../../time/iso-8601.js';

const operation = operationsOf('Repositories');

/** Value of the claim `repo` in a token for the whole organization. Older clients create such tokens. */
const WHOLE_ORGANIZATION = 'org';

// A user name must not contain a colon. In HTTP Basic authentication (RFC 7617, 2), a colon separates it from the
// password.
const username = lazy(() =>
  z
    .string()
    .max(1024)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
    .regex(/^[^:\x00-\x1f\x7f]+$/, 'must be a user name without colons and control characters'),
);
const password = lazy(() =>
  z
    .string()
    .min(1)
    .max(8192)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
    .regex(/^[^\x00-\x1f\x7f]*$/, 'must be a password without control characters'),
);

const credentialRecord = lazy(() => z.object({ id: z.string(), created_at: z.iso.datetime().optional() }));

function showCredential({ id, createdAt }: GitCredential): z.infer<ReturnType<typeof credentialRecord>> {
  return { id, created_at: isoTime(createdAt) };
}

export const createCredential = operation({
  summary: 'Store the credential for the upstream',
  routes: routesOfRepository('POST', 'git-credentials'),
  scopes: ['repo:write'],
  body: () => z.object({ repo_id: z.string().optional(), username: username().optional(), password: password() }),
  replies: () => ({ 201: credentialRecord() }),
  errors: ['credential_exists'],
  handle: ({ world, repository, body }) => {
    // Older clients also send `repo_id`, the name or id of the repository. It must match the repository of the token.
    if (body.repo_id !== undefined && body.repo_id !== repository.name && body.repo_id !== repository.id) {
      throw repositoryNotFound();
    }
    repository.requireWritable();
    if (repository.record.gitCredential)
      throw problem(
        'credential_exists',
        'The repository already has a Git credential, and can have only one. Update or delete it.',
      );
    const credential = {
      id: world.state.ids.prefixed('credential', 'ggc'),
      username: body.username,
      password: body.password,
      createdAt: world.state.clock.now(),
    };
    repository.update({ gitCredential: credential });
    return json(201, showCredential(credential));
  },
});

const changes = lazy(() => ({ username: username().optional(), password: password() }));

export const updateCredential = operation({
  summary: 'Replace the password of a Git credential',
  routes: [{ method: 'PUT', path: '/api/repos/{repo_name}/git-credentials/{credential_id}' }],
  scopes: ['repo:write'],
  body: () => z.object(changes()),
  replies: () => ({ 200: credentialRecord() }),
  errors: ['credential_not_found'],
  handle: ({ repository, params, body }) => {
    if (repository.record.gitCredential?.id !== params.credential_id) throw credentialNotFound();
    return json(200, showCredential(replacePassword(repository, body)));
  },
});

export const deleteCredential = operation({
  summary: 'Delete a Git credential',
  routes: [{ method: 'DELETE', path: '/api/repos/{repo_name}/git-credentials/{credential_id}' }],
  scopes: ['repo:write'],
  replies: () => ({ 204: '' }),
  errors: ['credential_not_found'],
  handle: ({ repository, params }) => {
    if (repository.record.gitCredential?.id !== params.credential_id) throw credentialNotFound();
    repository.update({ gitCredential: undefined });
    return empty(204);
  },
});

export const updateCredentialByBody = operation({
  summary: 'Replace the password of the Git credential that the body names',
  routes: [{ method: 'PUT', path: '/api/v1/repos/git-credentials' }],
  scopes: ['repo:write'],
  subject: 'claim',
  body: () => z.object({ id: z.string(), ...changes() }),
  replies: () => ({ 200: credentialRecord() }),
  errors: ['credential_not_found', 'repository_thawing', 'sync_in_progress'],
  handle: (ctx) => json(200, showCredential(replacePassword(findOwner(ctx, 'updateCredentialByBody'), ctx.body))),
});

export const deleteCredentialByBody = operation({
  summary: 'Delete the Git credential that the body names',
  routes: [{ method: 'DELETE', path: '/api/v1/repos/git-credentials' }],
  scopes: ['repo:write'],
  subject: 'claim',
  body: () => z.object({ id: z.string() }),
  replies: () => ({ 204: '' }),
  errors: ['credential_not_found', 'repository_thawing', 'sync_in_progress'],
  handle: (ctx) => {
    findOwner(ctx, 'deleteCredentialByBody').update({ gitCredential: undefined });
    return empty(204);
  },
});

/**
 * Returns the repository whose credential has the id in the body. If the token covers one repository, it must be this
 * repository. Throws `credential_not_found`.
 */
function findOwner(ctx: HandlerContext<unknown, { id: string }>, operationId: OperationId): Repository {
  const { world, organization, claims, body } = ctx;
  const owner = ownerOfCredential(world.state.repositories.list(organization.name), body.id);
  if (!owner || (claims.repo !== WHOLE_ORGANIZATION && claims.repo !== owner.name)) throw credentialNotFound();
  owner.meetState({ id: operationId, effect: 'write' }, world.variants);
  return owner;
}

/** Returns the repository whose Git credential has this id; undefined if absent. */
function ownerOfCredential(repositories: Iterable<Repository>, id: string): Repository | undefined {
  for (const repository of repositories) {
    if (repository.record.gitCredential?.id === id) return repository;
  }
  return undefined;
}

function replacePassword(repository: Repository, change: { username?: string | undefined; password: string }) {
  const previous = repository.record.gitCredential!;
  const credential = { ...previous, username: change.username ?? previous.username, password: change.password };
  repository.update({ gitCredential: credential });
  return credential;
}

function credentialNotFound() {
  return problem('credential_not_found', 'The repository has no Git credential with this id.');
}
