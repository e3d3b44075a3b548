import type { ClientVerdict, RuleOfClient } from '@emulator/admin/verify.js';

/** Returns all clients that a rule applied to, those with the most violations first. */
export function clientsOf(rules: readonly ClientVerdict[]): (string | null)[] {
  const broken = new Map<string | null, number>();
  for (const { clients } of rules) {
    for (const client of clients) broken.set(client.subject, (broken.get(client.subject) ?? 0) + client.broken);
  }
  return [...broken].sort(([, a], [, b]) => b - a).map(([subject]) => subject);
}

/** Returns the result for a client; undefined if the rule did not apply to it. */
export function verdictFor({ clients }: ClientVerdict, subject: string | null): RuleOfClient | undefined {
  return clients.find((client) => client.subject === subject);
}

/**
 * Class of the summary of all rules: `failed` for a broken MUST; `passed` only if rules were kept and none was broken.
 */
export function summaryClass(
  rules: readonly Pick<ClientVerdict, 'level' | 'verdict'>[],
): 'failed' | 'passed' | undefined {
  const broken = rules.filter(({ verdict }) => verdict === 'broken');
  if (broken.some(({ level }) => level === 'must')) return 'failed';
  return broken.length === 0 && rules.some(({ verdict }) => verdict === 'kept') ? 'passed' : undefined;
}
