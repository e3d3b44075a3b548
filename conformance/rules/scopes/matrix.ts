import { expectOther, expectSuccess, expectTrue } from '../../check/expect.js';
import { DOCUMENTED_OPERATIONS, type DocumentedOperation, SCOPES, type Scope } from '../documented-operations.js';
import { defineRules, type Rule, type RuleRow } from '../rule.js';

/** `git:read` as part of an id. */
function slug(scope: Scope): string {
  return scope.replace(':', '-');
}

function cell(operation: DocumentedOperation, scope: Scope): RuleRow {
  const id = `scope.matrix.${operation.name}.${slug(scope)}`;
  const { route, writes } = operation;
  if (scope === operation.scope) {
    return {
      id,
      says: `${scope} alone may call ${route}.`,
      writes,
      check: async (t) => {
        const repo = await operation.repo(t);
        await operation.prepare?.(t, repo);
        const answer = await operation.send(t, repo, { as: { repo, scopes: [scope] } });
        if (operation.isLoose !== true) return expectSuccess(answer);
        expectTrue(answer.status !== 401 && answer.status !== 403, 'the token is enough', answer.outcome);
        expectOther(answer.code, 'route_not_found', 'the route exists');
      },
    };
  }
  if (operation.name === 'repo') {
    return {
      id,
      says: `Whether ${scope} alone may call ${route} is left open.`,
      level: 'UNSPECIFIED',
      check: async (t) => {
        const repo = await operation.repo(t);
        const answer = await operation.send(t, repo, { as: { repo, scopes: [scope] } });
        t.observe('outcome', answer);
        t.tolerate('A26', `${scope}, repo`, answer, ['403 insufficient_scope', '401', '200']);
      },
    };
  }
  return {
    id,
    says: `${scope} alone may not call ${route}.`,
    writes,
    check: async (t) => {
      const repo = await operation.repo(t);
      const answer = await operation.send(t, repo, { as: { repo, scopes: [scope] } });
      t.tolerate('A02', `missing scope, ${operation.name}`, answer, operation.lacksScope);
    },
  };
}

/** Every operation with every scope alone: no scope implies another. One group for each operation. */
export const scopeMatrix: readonly Rule[] = DOCUMENTED_OPERATIONS.flatMap((operation) =>
  defineRules(
    'Scopes',
    `scopes-${operation.name}`,
    SCOPES.map((scope) => cell(operation, scope)),
  ),
);
