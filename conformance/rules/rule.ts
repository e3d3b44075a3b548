import type { RuleContext } from '../check/rule-context.js';
import type { Exchange } from '../http/exchange.js';

/** Requirement level. A broken MUST is a failure; anything weaker is a warning. */
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
 * Checks one exchange that another rule made. Returns a sentence if the exchange breaks the rule, `true` if it keeps the
 * rule, and undefined if the rule does not apply to it.
 */
export type Watch = (exchange: Exchange) => string | true | undefined;

/** Definition of a rule; omitted members have their default values. */
export interface RuleRow {
  /** Dotted and permanent id. It is never reused for another rule. */
  readonly id: string;
  /** One sentence that can be false. */
  readonly says: string;
  /** Default `MUST`. */
  readonly level?: Level;
  /** Default `any`. */
  readonly reach?: Reach;
  /**
   * True if the check sends requests that may change the target, even if they are refused. `where-allowed`: on a
   * read-only
   * target, the check leaves these requests out. Default: false.
   */
  readonly writes?: boolean | 'where-allowed';
  /** True if no other rule may run at the same time. */
  readonly alone?: boolean;
  readonly check?: Check;
  readonly watch?: Watch;
}

export interface Rule extends RuleRow {
  readonly section: Section;
  /** Rules of one group share a repository (`groupRepository`) and run one after the other. */
  readonly group: string;
  readonly level: Level;
  readonly reach: Reach;
  readonly writes: boolean | 'where-allowed';
}

/** Fills in the defaults of one group of rules. */
export function defineRules(section: Section, group: string, rows: readonly RuleRow[]): Rule[] {
  return rows.map((row) => ({ level: 'MUST', reach: 'any', writes: false, ...row, section, group }));
}

/** Fills in the defaults of one group of rules that write, unless a row says otherwise. */
export function defineWritingRules(section: Section, group: string, rows: readonly RuleRow[]): Rule[] {
  const writing = rows.map((row) => ({ writes: true, ...row }));
  return defineRules(section, group, writing);
}

/** Returns a check that receives a fixture, such as a repository. */
export function on<Fixture>(
  make: (t: RuleContext) => Promise<Fixture>,
  check: (t: RuleContext, fixture: Fixture) => unknown,
): Check {
  return async (t) => check(t, await make(t));
}

/** Defines a rule for behaviour that the specification leaves open. Its check records what the target does. */
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

/** Defines rules that share one check. A row has the id, the sentence, and the arguments of the check. */
export function rulesBy<Given extends readonly unknown[]>(
  check: (t: RuleContext, ...given: Given) => unknown,
  rows: readonly (readonly [id: string, says: string, ...given: Given])[],
  usual: Partial<RuleRow> = {},
): RuleRow[] {
  return rows.map(([id, says, ...given]) => ({ ...usual, id, says, check: async (t) => check(t, ...given) }));
}
