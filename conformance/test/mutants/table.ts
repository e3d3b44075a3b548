import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Rule } from '../../rules/rule.js';
import { packageRoot } from '../../run/version.js';
import type { Mutant } from './mutant.js';
import type { Fate, Outcome } from './outcome.js';

/**
 * File with the published outcomes, one row per pair of mutant (deliberate mistake) and rule. It has a row for each
 * rule that a mutant names. `npm run mutants -- --full` adds rows for all other rules that detected the mutant or were
 * inconclusive. If a pair has no row, the rule did not detect the mutant.
 */
export const TABLE_FILE = 'fixtures/conformance-mutants.tsv';

const HEADER = 'rule\tmutant\tverdict\tdoes\tclauses';

export interface TableRow {
  readonly rule: string;
  readonly mutant: string;
  readonly verdict: string;
  readonly does: string;
  /** Names of the rule's clauses that the mutant breaks, separated by commas. Empty if the mutant names none. */
  readonly clauses: string;
}

export function readTable(): TableRow[] {
  const [, ...lines] = readFileSync(join(packageRoot(), TABLE_FILE), 'utf8').split('\n');
  return lines
    .filter((line) => line !== '')
    .map((line) => {
      const [rule = '', mutant = '', verdict = '', does = '', clauses = ''] = line.split('\t');
      return { rule, mutant, verdict, does, clauses };
    });
}

export function writeTable(rows: readonly TableRow[]): void {
  const lines = [
    ...new Set(
      rows.map(({ rule, mutant, verdict, does, clauses }) => [rule, mutant, verdict, does, clauses].join('\t')),
    ),
  ];
  writeFileSync(join(packageRoot(), TABLE_FILE), `${[HEADER, ...lines.sort()].join('\n')}\n`);
}

export function rowOf({ mutant, rule, fate }: Outcome): TableRow {
  const { name, does } = mutant;
  return { rule, mutant: name, verdict: fate satisfies Fate, does, clauses: clausesOf(mutant, rule) };
}

/** Returns the names of the rule's clauses that a mutant breaks, separated by commas. */
function clausesOf({ clauses }: Pick<Mutant, 'clauses'>, rule: string): string {
  const prefix = `${rule}#`;
  return clauses.flatMap((name) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : [])).join(',');
}

/**
 * Returns a sentence for each clause (part of a rule) that no mutant breaks. Also reports clauses that a mutant names
 * but no rule has.
 */
export function findUnprovenClauses(mutants: readonly Mutant[], rules: readonly Rule[]): readonly string[] {
  const named = new Set(mutants.flatMap(({ clauses }) => clauses));
  const known = new Set(
    rules.flatMap(({ id, clauses = {} }) => Object.keys(clauses).map((clause) => `${id}#${clause}`)),
  );
  return [
    ...[...known].filter((clause) => !named.has(clause)).map((clause) => `no mutant breaks the clause ${clause}`),
    ...[...named].filter((clause) => !known.has(clause)).map((clause) => `there is no clause ${clause}`),
  ];
}

/**
 * Returns the new rows and the stored rows that are still valid. A stored row is valid if its mutant is unchanged and
 * the pair of mutant and rule was not checked again.
 */
export function mergeRows(kept: readonly TableRow[], mutants: readonly Mutant[], now: readonly TableRow[]): TableRow[] {
  const byName = new Map(mutants.map((mutant) => [mutant.name, mutant]));
  const checked = new Set(now.map(pairOf));
  const current = kept.flatMap((row) => {
    const mutant = byName.get(row.mutant);
    if (mutant?.does !== row.does || checked.has(pairOf(row))) return [];
    return [{ ...row, clauses: clausesOf(mutant, row.rule) }];
  });
  return [...current, ...now];
}

function pairOf({ rule, mutant }: Pick<TableRow, 'rule' | 'mutant'>): string {
  return `${rule} ${mutant}`;
}

/**
 * Used for a table row whose mutant no longer exists. Such a row is reported elsewhere, so its clauses do not matter.
 */
const NO_CLAUSES = { clauses: [] } as const;

/** Returns a sentence for each row that is missing from the table, and for each row that is outdated. */
export function findStaleRows(
  table: readonly TableRow[],
  mutants: readonly Mutant[],
  rules: readonly Rule[],
): readonly string[] {
  const ids = new Set(rules.map(({ id }) => id));
  const byName = new Map(mutants.map((mutant) => [mutant.name, mutant]));
  const killed = new Set(table.filter(({ verdict }) => verdict === 'killed').map(pairOf));
  return [
    ...table.filter(({ rule }) => !ids.has(rule)).map(({ rule }) => `there is no rule ${rule}`),
    ...table.filter(({ mutant }) => !byName.has(mutant)).map(({ mutant }) => `there is no mutant ${mutant}`),
    ...table
      .filter(({ mutant, does }) => byName.has(mutant) && byName.get(mutant)?.does !== does)
      .map(({ mutant }) => `the mutant ${mutant} does something else`),
    ...table
      .filter(({ rule, mutant, clauses }) => clauses !== clausesOf(byName.get(mutant) ?? NO_CLAUSES, rule))
      .map(({ mutant }) => `the mutant ${mutant} breaks other clauses`),
    ...mutants
      .flatMap((mutant) => mutant.rules.map((rule) => ({ rule, mutant: mutant.name })))
      .filter((pair) => !killed.has(pairOf(pair)))
      .map(({ rule, mutant }) => `${rule} has not killed ${mutant}`),
  ];
}
