import type { RuleContext } from '../check/rule-context.js';
import type { Exchange } from '../http/exchange.js';

/**
 * Requirement level of a rule. If the target breaks a MUST, the verdict is a failure; for weaker levels, it is a
 * warning.
 */
export type Level = 'MUST' | 'SHOULD' | 'MAY' | 'UNSPECIFIED';

/**
 * Targets on which a rule can be checked. `any`: every target. `needs-setup`: those with a second key, a second
 * organization, or a route that the specification does not show. `emulator`: those on which failures can be injected.
 */
export type Reach = 'any' | 'needs-setup' | 'emulator';

/** Headings of the specification that contain rules, in order. */
export const SECTIONS = [
  'What the service does',
  'Resources',
  'Repository record',
  'Commit record',
  'File metadata entry',
  'Commit summary',
  'Write result',
  'Note write result',
  'Problem details',
  'States',
  'Endpoints',
  '1. Search',
  '2. Restore',
  '3. File metadata',
  '4. Get one commit',
  '5. Commit pack',
  '6. Archive',
  '7. Notes',
  '8. Read a file',
  '9. Repository metadata',
  'Other endpoints',
  'Authentication',
  'Keys',
  'Token header',
  'Token claims',
  'Scopes',
  'Repository claim',
  'Restricted keys',
  'Git over HTTPS',
  'Token failure responses',
  'Events',
  'Errors',
  'Limits',
  'Versioning',
] as const;

export type Section = (typeof SECTIONS)[number];

export type Check = (t: RuleContext) => Promise<unknown>;

/**
 * Function that checks a request and response made by another rule. Returns a sentence if they break this rule, `true`
 * if they keep it, and undefined if the rule does not apply to them.
 */
export type Watch = (exchange: Exchange) => string | true | undefined;

/** Definition of a conformance rule. Omitted members have their default values. */
export interface RuleRow {
  /** Dotted id, such as `grep.ref.default`. It is permanent, and never reused for another rule. */
  readonly id: string;
  /** Requirement in one sentence, which is true or false for a target. */
  readonly says: string;
  /**
   * Statements of the rule that can be broken separately, one testable sentence each, by a name in kebab-case. Each
   * clause has its own mutant (server that breaks only this clause). Absent if the sentence `says` is one statement.
   */
  readonly clauses?: Readonly<Record<string, string>>;
  /** Requirement level. Default: `MUST`. */
  readonly level?: Level;
  /** Targets on which the rule can be checked. Default: `any`. */
  readonly reach?: Reach;
  /**
   * True if the check sends requests that may change the target, even if the target refuses them. `where-allowed`: on a
   * read-only target, the check omits these requests. Default: false.
   */
  readonly writes?: boolean | 'where-allowed';
  /** True if no other rule may run at the same time, because the check would disturb it. */
  readonly alone?: boolean;
  readonly check?: Check;
  readonly watch?: Watch;
}

export interface Rule extends RuleRow {
  readonly section: Section;
  /** Name of the group. The rules of a group share a repository (`groupRepository`) and run one after the other. */
  readonly group: string;
  readonly level: Level;
  readonly reach: Reach;
  readonly writes: boolean | 'where-allowed';
}

/** Completes the definitions of a group of rules with default values. */
export function defineRules(section: Section, group: string, rows: readonly RuleRow[]): Rule[] {
  return rows.map((row) => ({ level: 'MUST', reach: 'any', writes: false, ...row, section, group }));
}

/**
 * Completes the definitions of a group of rules with default values. A rule counts as writing, unless its definition
 * says otherwise.
 */
export function defineWritingRules(section: Section, group: string, rows: readonly RuleRow[]): Rule[] {
  const writing = rows.map((row) => ({ writes: true, ...row }));
  return defineRules(section, group, writing);
}

/** Returns a check that first creates a fixture, such as a repository, and then calls `check` with it. */
export function on<Fixture>(
  make: (t: RuleContext) => Promise<Fixture>,
  check: (t: RuleContext, fixture: Fixture) => unknown,
): Check {
  return async (t) => check(t, await make(t));
}

/**
 * Defines a rule for behaviour that the specification does not determine. Its check only records what the target does.
 */
export function leftOpen(id: string, says: string, check: Check): RuleRow;
export function leftOpen<Fixture>(
  id: string,
  says: string,
  make: (t: RuleContext) => Promise<Fixture>,
  check: (t: RuleContext, fixture: Fixture) => unknown,
): RuleRow;
export function leftOpen<Fixture>(
  id: string,
  says: string,
  make: (t: RuleContext) => Promise<Fixture>,
  check?: (t: RuleContext, fixture: Fixture) => unknown,
): RuleRow {
  return { id, says, level: 'UNSPECIFIED', check: check === undefined ? make : on(make, check) };
}

/**
 * Defines several rules that share one check function. Each row has the id and the sentence of a rule, and the
 * arguments for the check.
 */
export function rulesBy<Given extends readonly unknown[]>(
  check: (t: RuleContext, ...given: Given) => unknown,
  rows: readonly (readonly [id: string, says: string, ...given: Given])[],
  usual: Partial<RuleRow> = {},
): RuleRow[] {
  return rows.map(([id, says, ...given]) => ({ ...usual, id, says, check: async (t) => check(t, ...given) }));
}
