import t from 'tap';
import { allRules } from '../../rules/registry.js';
import { defineRules } from '../../rules/rule.js';
import type { Mutant } from './mutant.js';
import { findStaleRows, findUnprovenClauses, mergeRows, type TableRow } from './table.js';

const [first, second] = allRules().map(({ id }) => id) as [string, string];
const mutantCalled = (name: string, rule: string, does = 'is wrong'): Mutant => ({
  name,
  rules: [rule],
  clauses: [],
  does,
  change: { proxy: {} },
});
const row = (rule: string, mutant: string, verdict = 'killed', does = 'is wrong'): TableRow => ({
  rule,
  mutant,
  verdict,
  does,
  clauses: '',
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

t.test('each clause of a rule needs a mutant, and a mutant may name only clauses that exist', async (t) => {
  const [rule] = defineRules('Errors', 'x', [
    { id: 'a', says: 'It holds, and stays.', clauses: { holds: 'It holds.', stays: 'It stays.' } },
  ]);
  const breaking = (...clauses: string[]) => [{ ...mutantCalled('m', 'a'), clauses }];
  t.same(findUnprovenClauses(breaking('a#holds', 'a#stays'), [rule!]), []);
  t.same(findUnprovenClauses(breaking('a#holds'), [rule!]), ['no mutant breaks the clause a#stays']);
  t.same(findUnprovenClauses(breaking('a#holds', 'a#stays', 'a#goes'), [rule!]), ['there is no clause a#goes']);
});

t.test('a table is stale if a mutant breaks other clauses than its row says; an update corrects the row', async (t) => {
  const mutants = [{ ...mutantCalled('m', first), clauses: [`${first}#one`, `${first}#two`, `${second}#three`] }];
  const stale = [row(first, 'm')];
  const updated = mergeRows(stale, mutants, []);
  t.same(findStaleRows(stale, mutants, allRules()), ['the mutant m breaks other clauses']);
  t.same(updated, [{ ...row(first, 'm'), clauses: 'one,two' }]);
  t.same(findStaleRows(updated, mutants, allRules()), []);
});
