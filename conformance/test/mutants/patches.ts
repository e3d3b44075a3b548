import type { Patch } from './mutant.js';

/** Patches that hide branches whose tip the API wrote from Git. */
export const HIDDEN_FROM_GIT: readonly Patch[] = [
  {
    file: 'repositories/branch-write.js',
    find: 'await transaction.prepare();',
    replace: '(globalThis.committedByApi ??= new Set()).add(commit); await transaction.prepare();',
  },
  {
    file: 'smart-http/view.js',
    find: '!name.startsWith(NAMESPACES)',
    replace: '!name.startsWith(NAMESPACES) && !globalThis.committedByApi?.has(oid)',
  },
];

/** Makes the server ignore the scopes of tokens for an operation. */
export function ignoresScope(operation: string): Patch {
  return {
    file: 'pipeline/credential.js',
    find: 'requireScopes(claims, purpose.scopes);',
    replace: `if (arguments[0].operation.id !== '${operation}') requireScopes(claims, purpose.scopes);`,
  };
}

/** Makes the server read the claims of a token for an operation without verifying its signature. */
export function ignoresSignature(operation: string): readonly Patch[] {
  return [
    {
      file: 'pipeline/credential.js',
      find: 'world.authenticationOf(authorizationOf(request.rawHeaders), surface, organization)',
      replace: `{
        ...world.authenticationOf(authorizationOf(request.rawHeaders), surface, organization),
        operation: operation.id,
      }`,
    },
    {
      file: 'auth/authenticate.js',
      find: 'await findSigner(decoded, ring)',
      replace: `await findSigner(decoded, ring).catch((error) => {
        if (request.operation !== '${operation}') throw error;
        return ring.candidates('ES256')[0];
      })`,
    },
  ];
}

/** Makes the server use the first repository of the organization instead of the one that the token names. */
export function takesFirstRepository(operation: string): Patch {
  return {
    file: 'pipeline/gate.js',
    find: "world.state.repositories.find(context.organizationName, claims.repo ?? '')",
    replace: `operation.id === '${operation}'
      ? world.state.repositories.list(context.organizationName, 0)[Symbol.iterator]().next().value
      : world.state.repositories.find(context.organizationName, claims.repo ?? '')`,
  };
}

/** Makes the server skip the comparison of the repository in the path with the one that the token names. */
export function ignoresPathAndClaim(operation: string): Patch {
  return {
    file: 'pipeline/credential.js',
    find: 'params.repo_name !== claims.repo',
    replace: `params.repo_name !== claims.repo && context.operation.id !== '${operation}'`,
  };
}

/** Makes the server look up the repository even if the token names none. */
export function needsNoRepoClaim(operation: string): readonly Patch[] {
  return [
    {
      file: 'auth/claims.js',
      find: "scopes.every((scope) => scope === 'org:read')",
      replace: 'true',
    },
    {
      file: 'pipeline/credential.js',
      find: "operation.subject !== 'organization'",
      replace: `operation.subject !== 'organization' && operation.id !== '${operation}'`,
    },
  ];
}
