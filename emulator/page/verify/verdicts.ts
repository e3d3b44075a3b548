import type { ClientVerdict, RuleOfClient } from '@emulator/admin/verify.js';

/**
 * Returns the clients to which at least one rule of the specification applied, by the subject (claim `sub`) of their
 * token. null stands for clients without a token. Clients that broke rules most often come first.
 */
export function clientsOf(rules: readonly ClientVerdict[]): (string | null)[] {
  const broken = new Map<string | null, number>();
  for (const { clients } of rules) {
    for (const client of clients) broken.set(client.subject, (broken.get(client.subject) ?? 0) + client.broken);
  }
  return [...broken].sort(([, a], [, b]) => b - a).map(([subject]) => subject);
}

/** Returns true if the emulator did not report the results of all clients. It reports a limited number per rule. */
export function isClientLeftOut(rules: readonly Pick<ClientVerdict, 'occasions' | 'clients'>[]): boolean {
  return rules.some(({ occasions, clients }) => clients.reduce((left, one) => left - one.occasions, occasions) > 0);
}

/**
 * Returns how often a client kept and broke a rule of the specification; undefined if the rule did not apply to the
 * client. `subject` is the claim `sub` of the client's token; null for clients without a token.
 */
export function verdictFor({ clients }: ClientVerdict, subject: string | null): RuleOfClient | undefined {
  return clients.find((client) => client.subject === subject);
}

/**
 * Returns the CSS class for the line that counts the kept and broken rules:
 *
 * - `failed`: a rule of level MUST was broken
 * - `passed`: at least one rule was kept and none was broken
 * - undefined: all other cases
 */
export function summaryClass(
  rules: readonly Pick<ClientVerdict, 'level' | 'verdict'>[],
): 'failed' | 'passed' | undefined {
  const broken = rules.filter(({ verdict }) => verdict === 'broken');
  if (broken.some(({ level }) => level === 'must')) return 'failed';
  return broken.length === 0 && rules.some(({ verdict }) => verdict === 'kept') ? 'passed' : undefined;
}
