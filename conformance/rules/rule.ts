import type { RuleContext } from '../check/rule-context.js';
import type { Exchange } from '../http/exchange.js';

/** Requirement level of a rule. Breaking a MUST is a failure; breaking a weaker level is a warning. */
export type Level = 'MUST' | 'SHOULD' | 'MAY' | 'UNSPECIFIED';

/**
 * Targets on which a rule can be checked.
 * - `any`: every target.
 * - `needs-setup`: targets with a second key, a second organization, or a route that the specification does not show.
 * - `emulator`: targets on which failures can be injected.
 */
export type Reach = 'any' | 'needs-setup' | 'emulator';

/** Headings of the specification's sections that contain rules, in order. */
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
 * Function that judges a request and response of any rule. Returns `true` if they satisfy this rule, a sentence if they
 * break it, and undefined if the rule does not apply to them.
 */
export type Watch = (exchange: Exchange) => string | true | undefined;

/** Definition of a conformance rule. Omitted members have their default values. */
export interface RuleRow {
  /** Dotted id, such as `grep.ref.default`. It never changes and is never reused for another rule. */
  readonly id: string;
  /** The requirement, as one sentence that is true or false for a target. */
  readonly says: string;
  /**
   * Statements of the rule that can be broken separately. Each is one testable sentence with a name in kebab-case, and
   * has its own mutant (server that breaks only this clause). Absent if `says` is a single statement.
   */
  readonly clauses?: Readonly<Record<string, string>>;
  /** Requirement level. Default: `MUST`. */
  readonly level?: Level;
  /** Targets on which the rule can be checked. Default: `any`. */
  readonly reach?: Reach;
  /**
   * True if the check sends requests that may change the target, even if the target refuses them. `where-allowed` means
   * that the check omits these requests on a read-only target. Default: false.
   */
  readonly writes?: boolean | 'where-allowed';
  /** True if no other rule may run at the same time, because this check would disturb it. */
  readonly alone?: boolean;
  readonly check?: Check;
  readonly watch?: Watch;
}

export interface Rule extends RuleRow {
  readonly section: Section;
  /** Name of the rule's group. Rules of a group share a repository (`groupRepository`) and run one after the other. */
  readonly group: string;
  readonly level: Level;
  readonly reach: Reach;
  readonly writes: boolean | 'where-allowed';
}

/** Adds section, group and default values to the definitions of a group of rules. */
export function defineRules(section: Section, group: string, rows: readonly RuleRow[]): Rule[] {
  return rows.map((row) => ({ level: 'MUST', reach: 'any', writes: false, ...row, section, group }));
}

/**
 * Adds section, group and default values to the definitions of a group of rules. Unlike `defineRules`, the default of
 * `writes` is true.
 */
export function defineWritingRules(section: Section, group: string, rows: readonly RuleRow[]): Rule[] {
  const writing = rows.map((row) => ({ writes: true, ...row }));
  return defineRules(section, group, writing);
}

/** Returns a check that creates a fixture, such as a repository, and then calls `check` with it. */
export function on<Fixture>(
  make: (t: RuleContext) => Promise<Fixture>,
  check: (t: RuleContext, fixture: Fixture) => unknown,
): Check {
  return async (t) => check(t, await make(t));
}

/** Defines a rule for behaviour that the specification leaves open. Its check only records what the target does. */
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
 * Defines several rules that share one check function. Each row has a rule's id and sentence, then the arguments for
 * its check.
 */
export function rulesBy<Given extends readonly unknown[]>(
  check: (t: RuleContext, ...given: Given) => unknown,
  rows: readonly (readonly [id: string, says: string, ...given: Given])[],
  usual: Partial<RuleRow> = {},
): RuleRow[] {
  return rows.map(([id, says, ...given]) => ({ ...usual, id, says, check: async (t) => check(t, ...given) }));
}
