import t from 'tap';
import { allRules, selectRules } from './registry.js';

const count = (pattern: string) => selectRules(allRules(), pattern).length;

t.test('a pattern selects by id, by what lies below an id, and by *', async (t) => {
  t.equal(selectRules(allRules(), undefined).length, 644);
  t.equal(count('grep.case.false'), 1);
  t.equal(count('scope.matrix'), 72);
  t.equal(count('scope.matrix.*.git-read'), 18);
  t.equal(count('grep.case.false, repo.get'), 1 + 4);
  t.equal(count('*'), 644);
  t.equal(count('gre'), 0, 'part of a name is no name');
  t.equal(count('grep.case(false'), 0, 'no regular expressions');
});
