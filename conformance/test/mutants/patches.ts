import type { Patch } from './mutant.js';

/** Hides branches from Git clients if their last commit was made through the HTTP API. */
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

/** Makes one API operation accept tokens without the required scope. */
export function ignoresScope(operation: string): Patch {
  return {
    file: 'pipeline/credential.js',
    find: 'requireScopes(claims, purpose.scopes);',
    replace: `if (arguments[0].operation.id !== '${operation}') requireScopes(claims, purpose.scopes);`,
  };
}

/** Makes one API operation accept tokens whose signature is wrong. */
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

/** Makes one API operation use the first repository of the organization instead of the one that the token names. */
export function takesFirstRepository(operation: string): Patch {
  return {
    file: 'pipeline/gate.js',
    find: "world.state.repositories.find(context.organizationName, claims.repo ?? '')",
    replace: `operation.id === '${operation}'
      ? world.state.repositories.list(context.organizationName, 0)[Symbol.iterator]().next().value
      : world.state.repositories.find(context.organizationName, claims.repo ?? '')`,
  };
}

/** Makes one API operation accept a token for another repository than the one in the request path. */
export function ignoresPathAndClaim(operation: string): Patch {
  return {
    file: 'pipeline/credential.js',
    find: 'params.repo_name !== claims.repo',
    replace: `params.repo_name !== claims.repo && context.operation.id !== '${operation}'`,
  };
}

/**
 * Makes one API operation accept tokens without the claim `repo`. It then looks up the repository that the request path
 * names.
 */
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
