import type { ClientVerdict, RuleOfClient } from '@emulator/admin/verify.js';

/** All clients that gave an occasion: those that broke most come first. */
export function clientsOf(rules: readonly ClientVerdict[]): (string | null)[] {
  const broken = new Map<string | null, number>();
  for (const { clients } of rules) {
    for (const client of clients) broken.set(client.subject, (broken.get(client.subject) ?? 0) + client.broken);
  }
  return [...broken].sort(([, a], [, b]) => b - a).map(([subject]) => subject);
}

/** Undefined where the client gave no occasion. */
export function verdictFor({ clients }: ClientVerdict, subject: string | null): RuleOfClient | undefined {
  return clients.find((client) => client.subject === subject);
}

/** Class of the summary of all rules: red for a broken MUST, green only if rules were kept and none was broken. */
export function summaryClass(
  rules: readonly Pick<ClientVerdict, 'level' | 'verdict'>[],
): 'failed' | 'passed' | undefined {
  const broken = rules.filter(({ verdict }) => verdict === 'broken');
  if (broken.some(({ level }) => level === 'must')) return 'failed';
  return broken.length === 0 && rules.some(({ verdict }) => verdict === 'kept') ? 'passed' : undefined;
}
