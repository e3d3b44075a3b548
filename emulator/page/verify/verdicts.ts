/** What a rule says of the requests, as `POST verify` answers it. */
export interface RuleVerdict {
  readonly rule: string;
  readonly title: string;
  readonly source: string;
  readonly level: 'must' | 'should';
  readonly verdict: 'kept' | 'broken' | 'unseen';
  readonly occasions: number;
  readonly faults: readonly {
    readonly request: string;
    readonly earlier?: string;
    readonly subject?: string;
    readonly detail: string;
  }[];
  readonly clients: readonly ClientVerdict[];
}

export interface ClientVerdict {
  /** Null: of requests whose token names none. */
  readonly subject: string | null;
  readonly verdict: 'kept' | 'broken';
  readonly occasions: number;
  readonly broken: number;
}

/** All clients that gave an occasion: those that broke most come first. */
export function clientsOf(rules: readonly RuleVerdict[]): (string | null)[] {
  const broken = new Map<string | null, number>();
  for (const { clients } of rules) {
    for (const client of clients) broken.set(client.subject, (broken.get(client.subject) ?? 0) + client.broken);
  }
  return [...broken].sort(([, a], [, b]) => b - a).map(([subject]) => subject);
}

/** Undefined where the client gave no occasion. */
export function verdictFor({ clients }: RuleVerdict, subject: string | null): ClientVerdict | undefined {
  return clients.find((client) => client.subject === subject);
}

/** Class of the summary of all rules: red for a broken MUST, green only if rules were kept and none was broken. */
export function summaryClass(
  rules: readonly Pick<RuleVerdict, 'level' | 'verdict'>[],
): 'failed' | 'passed' | undefined {
  const broken = rules.filter(({ verdict }) => verdict === 'broken');
  if (broken.some(({ level }) => level === 'must')) return 'failed';
  return broken.length === 0 && rules.some(({ verdict }) => verdict === 'kept') ? 'passed' : undefined;
}
