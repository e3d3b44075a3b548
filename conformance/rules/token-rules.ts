import { ANONYMOUS } from '../api/requests.js';
import { documentedOperation } from './documented-operations.js';
import type { RuleRow } from './rule.js';
import { expectErrorOf, expectScopeMissing } from './token-places.js';

/**
 * Ids of the token rules for one operation. The specification repeats these rules in the table of each operation. An
 * absent member has no rule.
 */
type TokenRuleIds = Readonly<Partial<Record<'noHeader' | 'invalid' | 'scope' | 'missingRepo', string>>>;

/**
 * Defines the token rules of one operation, which the specification repeats in the table of each operation. `name`:
 * name of the operation.
 */
export function tokenRules(name: string, ids: TokenRuleIds): RuleRow[] {
  const operation = documentedOperation(name);
  const { route, writes, scope } = operation;
  const otherScope = scope === 'git:read' ? 'git:write' : 'git:read';
  const rows: Record<keyof TokenRuleIds, Pick<RuleRow, 'says' | 'check'>> = {
    noHeader: {
      says: `${route} answers 401 to a request without a credential.`,
      check: async (t) => {
        const response = await operation.send(t, await operation.repo(t), ANONYMOUS);
        expectErrorOf(operation, response, 401, 'unauthorized');
      },
    },
    invalid: {
      says: `${route} rejects a token signed by an unregistered key.`,
      check: async (t) => {
        const repo = await operation.repo(t);
        const response = await operation.send(t, repo, { as: { repo, scopes: [scope], defect: 'foreign-key' } });
        if (name === 'grep') t.tolerate('A01', 'invalid token, grep', response, ['403 forbidden']);
        else t.expectTokenRefused(response, name);
      },
    },
    scope: {
      says: `${route} rejects a token without the scope ${scope}.`,
      check: async (t) => {
        const repo = await operation.repo(t);
        const response = await operation.send(t, repo, { as: { repo, scopes: [otherScope] } });
        expectScopeMissing(t, operation, response);
      },
    },
    missingRepo: {
      says: `${route} is 404 if the repository in the repo claim does not exist.`,
      check: async (t) => {
        const repo = t.uniqueName();
        const response = await operation.send(t, repo, { as: { repo, scopes: [scope] } });
        expectErrorOf(operation, response, 404, 'repository_not_found');
        t.observe('content-type', response.header('content-type') ?? 'none');
      },
    },
  };
  return Object.entries(rows).flatMap(([kind, row]) => {
    const id = ids[kind as keyof TokenRuleIds];
    return id === undefined ? [] : [{ id, writes, ...row }];
  });
}
