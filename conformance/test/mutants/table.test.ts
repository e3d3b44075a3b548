import t from 'tap';
import { allRules } from '../../rules/registry.js';
import type { Mutant } from './mutant.js';
import { findStaleRows, mergeRows, type TableRow } from './table.js';

const [first, second] = allRules().map(({ id }) => id) as [string, string];
const mutantCalled = (name: string, rule: string, does = 'is wrong'): Mutant => ({
  name,
  rules: [rule],
  does,
  change: { proxy: {} },
});
const row = (rule: string, mutant: string, verdict = 'killed', does = 'is wrong'): TableRow => ({
  rule,
  mutant,
  verdict,
  does,
});

t.test('a table is stale if it lacks a row or has a row without a mutant', async (t) => {
  const mutants = [mutantCalled('a', first), mutantCalled('b', second)];
  const complaints = (table: TableRow[]) => findStaleRows(table, mutants, allRules());
  t.same(
    complaints([row(first, 'a'), row(second, 'b'), row(second, 'a')]),
    [],
    'more rows than were asked for are right',
  );
  t.same(complaints([row(first, 'a')]), [`${second} has not killed b`]);
  t.same(complaints([row(first, 'a'), row(second, 'b', 'silent')]), [`${second} has not killed b`]);
  t.same(complaints([row(first, 'a'), row(second, 'b'), row(first, 'c')]), ['there is no mutant c']);
  t.same(complaints([row(first, 'a'), row(second, 'b'), row('gone', 'a')]), ['there is no rule gone']);
  t.same(complaints([row(first, 'a', 'killed', 'was wrong'), row(second, 'b')]), ['the mutant a does something else']);
});

t.test('rows of unchanged mutants are kept until the mutants are checked again', async (t) => {
  const mutants = [mutantCalled('a', first), mutantCalled('b', second)];
  const kept = [
    row(first, 'a', 'silent'),
    row(second, 'a'),
    row(first, 'b', 'killed', 'was wrong'),
    row(first, 'gone'),
  ];
  t.same(mergeRows(kept, mutants, [row(first, 'a'), row(second, 'b')]), [
    row(second, 'a'),
    row(first, 'a'),
    row(second, 'b'),
  ]);
});
