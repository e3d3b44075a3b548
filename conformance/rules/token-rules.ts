import { ANONYMOUS } from '../api/requests.js';
import { expectCode, expectStatus } from '../check/expect.js';
import { documentedOperation } from './documented-operations.js';
import type { RuleRow } from './rule.js';

interface TokenRuleIds {
  readonly noHeader?: string;
  readonly invalid?: string;
  readonly scope?: string;
  readonly missingRepo?: string;
}

/** The four rules about tokens that every operation's own table repeats. */
export function tokenRules(operation: string, ids: TokenRuleIds): RuleRow[] {
  const probe = documentedOperation(operation);
  const { route, writes } = probe;
  const wrong = probe.scope === 'git:read' ? 'git:write' : 'git:read';
  const short = operation === 'filemeta';
  const rows: (RuleRow | undefined)[] = [
    ids.noHeader === undefined
      ? undefined
      : {
          id: ids.noHeader,
          says: `${route} without any credential is 401.`,
          writes,
          check: async (t) => {
            const answer = await probe.send(t, await probe.repo(t), ANONYMOUS);
            if (short) expectStatus(answer, 401);
            else expectCode(answer, 401, 'unauthorized');
          },
        },
    ids.invalid === undefined
      ? undefined
      : {
          id: ids.invalid,
          says: `${route} refuses a token whose signature is not by a registered key.`,
          writes,
          check: async (t) => {
            const repo = await probe.repo(t);
            const answer = await probe.send(t, repo, { as: { repo, scopes: [probe.scope], defect: 'foreign-key' } });
            if (operation === 'grep') t.tolerate('A01', 'invalid token, grep', answer, ['403 forbidden']);
            else t.expectTokenRefused(answer, operation);
          },
        },
    ids.scope === undefined
      ? undefined
      : {
          id: ids.scope,
          says: `${route} refuses a token that lacks ${probe.scope}.`,
          writes,
          check: async (t) => {
            const repo = await probe.repo(t);
            const answer = await probe.send(t, repo, { as: { repo, scopes: [wrong] } });
            t.tolerate('A02', `missing scope, ${operation}`, answer, probe.lacksScope);
          },
        },
    ids.missingRepo === undefined
      ? undefined
      : {
          id: ids.missingRepo,
          says: `${route} is 404 when the claim names a repository that does not exist.`,
          writes,
          check: async (t) => {
            const repo = t.uniqueName();
            const answer = await probe.send(t, repo, { as: { repo, scopes: [probe.scope] } });
            if (short || operation === 'restore') expectStatus(answer, 404);
            else expectCode(answer, 404, 'repository_not_found');
          },
        },
  ];
  return rows.filter((row) => row !== undefined);
}
