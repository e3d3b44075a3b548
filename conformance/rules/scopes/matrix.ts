import { expectOther, expectSuccess, expectTrue } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { DOCUMENTED_OPERATIONS, type DocumentedOperation, SCOPES, type Scope, slug } from '../documented-operations.js';
import { defineRules, on, type Rule, type RuleRow } from '../rule.js';

function cell(operation: DocumentedOperation, scope: Scope): RuleRow {
  const id = `scope.matrix.${operation.name}.${slug(scope)}`;
  const { route, writes } = operation;
  const isAllowed = scope === operation.scope;
  const ask = async (t: RuleContext) => {
    const repo = await operation.repo(t);
    if (isAllowed) await operation.prepare?.(t, repo);
    return operation.send(t, repo, { as: { repo, scopes: [scope] } });
  };
  if (isAllowed) {
    return {
      id,
      says: `${scope} alone may call ${route}.`,
      writes,
      check: on(ask, (_t, answer) => {
        if (operation.isLoose !== true) return expectSuccess(answer);
        expectTrue(answer.status !== 401 && answer.status !== 403, 'the token is enough', answer.outcome);
        return expectOther(answer.code, 'route_not_found', 'the route exists');
      }),
    };
  }
  if (operation.name === 'repo') {
    return {
      id,
      says: `Whether ${scope} alone may call ${route} is left open.`,
      level: 'UNSPECIFIED',
      check: on(ask, (t, answer) => {
        t.observe('outcome', answer);
        t.tolerate('A26', `${scope}, repo`, answer, ['403 insufficient_scope', '401', '200']);
      }),
    };
  }
  return {
    id,
    says: `${scope} alone may not call ${route}.`,
    writes,
    check: on(ask, (t, answer) => t.tolerate('A02', `missing scope, ${operation.name}`, answer, operation.lacksScope)),
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
