import type { ClientVerdict, RuleOfClient } from '@emulator/admin/verify.js';

/** Returns the subjects of all clients to which at least one rule applied. Clients with more violations come first. */
export function clientsOf(rules: readonly ClientVerdict[]): (string | null)[] {
  const broken = new Map<string | null, number>();
  for (const { clients } of rules) {
    for (const client of clients) broken.set(client.subject, (broken.get(client.subject) ?? 0) + client.broken);
  }
  return [...broken].sort(([, a], [, b]) => b - a).map(([subject]) => subject);
}

/** Returns the result of a rule for the client with this subject; undefined if the rule did not apply to the client. */
export function verdictFor({ clients }: ClientVerdict, subject: string | null): RuleOfClient | undefined {
  return clients.find((client) => client.subject === subject);
}

/**
 * Returns the CSS class of the summary of all rules: `failed` if a rule of level MUST was broken; `passed` if at least
 * one rule was kept and none was broken; undefined otherwise.
 */
export function summaryClass(
  rules: readonly Pick<ClientVerdict, 'level' | 'verdict'>[],
): 'failed' | 'passed' | undefined {
  const broken = rules.filter(({ verdict }) => verdict === 'broken');
  if (broken.some(({ level }) => level === 'must')) return 'failed';
  return broken.length === 0 && rules.some(({ verdict }) => verdict === 'kept') ? 'passed' : undefined;
}
