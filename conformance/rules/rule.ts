import type { RuleContext } from '../check/rule-context.js';
import type { Exchange } from '../http/exchange.js';

/** How binding the specification is. A broken MUST is a failure, anything weaker a warning. */
export type Level = 'MUST' | 'SHOULD' | 'MAY' | 'UNSPECIFIED';

/**
 * Where a rule can be checked. `any`: on every target. `needs-setup`: a second key, a second organization, or a
 * route the specification does not show. `emulator`: only where a failure can be caused on purpose.
 */
export type Reach = 'any' | 'needs-setup' | 'emulator';

/** Every heading of the specification that carries rules, in its order. */
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
 * Checks one exchange that some other rule made. Returns a sentence when the exchange breaks the rule, `true` when
 * it keeps it, and nothing when it says nothing about it.
 */
export type Watch = (exchange: Exchange) => string | true | undefined;

/** A rule as it is written down; what is left out has the usual value. */
export interface RuleRow {
  /** Dotted, permanent, never used again for something else. */
  readonly id: string;
  /** One sentence that can be false. */
  readonly says: string;
  /** Default `MUST`. */
  readonly level?: Level;
  /** Default `any`. */
  readonly reach?: Reach;
  /**
   * Whether checking it sends what may change the target, refused or not. `where-allowed`: also, but a target that may
   * not be written to is checked by the rest. Default: no.
   */
  readonly writes?: boolean | 'where-allowed';
  /** Runs while nothing else does. */
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

/** Completes the rows of one group of rules. */
export function defineRules(section: Section, group: string, rows: readonly RuleRow[]): Rule[] {
  return rows.map((row) => ({ level: 'MUST', reach: 'any', writes: false, ...row, section, group }));
}

/** The same for rules that write, unless a row says otherwise. */
export function defineWritingRules(section: Section, group: string, rows: readonly RuleRow[]): Rule[] {
  const writing = rows.map((row) => ({ writes: true, ...row }));
  return defineRules(section, group, writing);
}

/** A check that is given a fixture, such as the repository that it looks at. */
export function on<Fixture>(
  make: (t: RuleContext) => Promise<Fixture>,
  check: (t: RuleContext, fixture: Fixture) => unknown,
): Check {
  return async (t) => check(t, await make(t));
}

/** A rule about what the specification leaves open: its check notes what the target does. `make` gives a fixture. */
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

/** Rules that one check decides. A row has the id, the sentence, and what the check is given. */
export function rulesBy<Given extends readonly unknown[]>(
  check: (t: RuleContext, ...given: Given) => unknown,
  rows: readonly (readonly [id: string, says: string, ...given: Given])[],
  usual: Partial<RuleRow> = {},
): RuleRow[] {
  return rows.map(([id, says, ...given]) => ({ ...usual, id, says, check: async (t) => check(t, ...given) }));
}
