import t from 'tap';
import { allRules, selectRules } from './registry.js';
import { defineRules } from './rule.js';

const ids = ['grep.case.false', 'grep.case.true', 'matrix.a.read', 'matrix.a.write', 'matrix.b.read', 'greps.x'];
const rules = defineRules(
  'Errors',
  'patterns',
  ids.map((id) => ({ id, says: 'It holds.' })),
);
const selected = (pattern: string | undefined) => selectRules(rules, pattern).map(({ id }) => id);

t.test('a pattern selects rules by id, by the prefix of an id, and with *', async (t) => {
  t.same(selected(undefined), ids);
  t.same(selected('grep.case.false'), ['grep.case.false']);
  t.same(selected('matrix'), ['matrix.a.read', 'matrix.a.write', 'matrix.b.read']);
  t.same(selected('matrix.*.read'), ['matrix.a.read', 'matrix.b.read']);
  t.same(selected('matrix.b.read, grep.case'), ['grep.case.false', 'grep.case.true', 'matrix.b.read']);
  t.same(selected('*'), ids);
  t.same(selected('gre'), [], 'part of a name is no name');
  t.same(selected('grep.case(false'), [], 'no regular expressions');
});

t.test('no two rules have the same id', async (t) => {
  t.equal(new Set(allRules().map(({ id }) => id)).size, allRules().length);
});
