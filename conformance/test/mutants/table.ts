import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Rule } from '../../rules/rule.js';
import { packageRoot } from '../../run/version.js';
import type { Mutant } from './mutant.js';
import type { Fate, Outcome } from './outcome.js';

/**
 * File with the published table of outcomes: one row per pair of mutant (deliberate mistake) and rule. It has a row for
 * each rule that a mutant names. After `npm run mutants -- --full` it also has rows for all other rules that detected
 * the mutant or were inconclusive. Without a row, the rule did not detect the mutant.
 */
export const TABLE_FILE = 'fixtures/conformance-mutants.tsv';

const HEADER = 'rule\tmutant\tverdict\tdoes';

export interface TableRow {
  readonly rule: string;
  readonly mutant: string;
  readonly verdict: string;
  readonly does: string;
}

export function readTable(): TableRow[] {
  const [, ...lines] = readFileSync(join(packageRoot(), TABLE_FILE), 'utf8').split('\n');
  return lines
    .filter((line) => line !== '')
    .map((line) => {
      const [rule = '', mutant = '', verdict = '', does = ''] = line.split('\t');
      return { rule, mutant, verdict, does };
    });
}

export function writeTable(rows: readonly TableRow[]): void {
  const lines = [...new Set(rows.map(({ rule, mutant, verdict, does }) => [rule, mutant, verdict, does].join('\t')))];
  writeFileSync(join(packageRoot(), TABLE_FILE), `${[HEADER, ...lines.sort()].join('\n')}\n`);
}

export function rowOf({ mutant, rule, fate }: Outcome): TableRow {
  return { rule, mutant: mutant.name, verdict: fate satisfies Fate, does: mutant.does };
}

/**
 * Returns the new rows, and those stored rows whose mutant is unchanged and whose pair of mutant and rule was not
 * checked again.
 */
export function mergeRows(kept: readonly TableRow[], mutants: readonly Mutant[], now: readonly TableRow[]): TableRow[] {
  const does = new Map(mutants.map((mutant) => [mutant.name, mutant.does]));
  const checked = new Set(now.map(pairOf));
  return [...kept.filter((row) => does.get(row.mutant) === row.does && !checked.has(pairOf(row))), ...now];
}

function pairOf({ rule, mutant }: Pick<TableRow, 'rule' | 'mutant'>): string {
  return `${rule} ${mutant}`;
}

/** Returns a sentence for each row that the table lacks, and for each row that no mutant or rule justifies. */
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
    ...mutants
      .flatMap((mutant) => mutant.rules.map((rule) => ({ rule, mutant: mutant.name })))
      .filter((pair) => !killed.has(pairOf(pair)))
      .map(({ rule, mutant }) => `${rule} has not killed ${mutant}`),
  ];
}
