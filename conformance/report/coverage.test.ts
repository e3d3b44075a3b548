import t from 'tap';
import { conformance } from '../test/deployment.js';
import { REPORTERS, reporterOf } from './reporters.js';
import { readReport } from './schema.js';
import { reportWith, resultOf } from './test/sample-report.js';

const rules = [resultOf('pass'), resultOf('skip', 'a.skip'), resultOf('blocked', 'b.blocked'), resultOf('observed')];
const COVERAGE = 'Read-only run: 2 of 4 rules checked, 2 not checked.';

t.test('every report of a read-only run begins with the number of rules that it did not check', async (t) => {
  const reading = reportWith(rules, { mode: { write: false, strict: false } });
  const writing = reportWith(rules);
  for (const name of REPORTERS.filter((one) => one !== 'json')) {
    const at = reporterOf(name, false)(reading).indexOf(COVERAGE);
    t.ok(at >= 0, `${name} has the sentence`);
    t.notMatch(reporterOf(name, false)(writing), 'Read-only run', `${name} omits it for a run that writes`);
  }
  t.equal(reporterOf('pretty', false)(reading).split('\n')[0], COVERAGE);
  t.equal(reporterOf('markdown', false)(reading).split('\n')[2], COVERAGE);
});

t.test('a run that checks fewer rules than required fails with one sentence', async (t) => {
  const enough = reportWith(rules, { mode: { write: true, strict: false, min_checked: 2 } });
  t.equal(reportWith([resultOf('pass')], { mode: { write: true, strict: false, min_checked: 1 } }).exit_code, 0);
  t.equal(enough.exit_code, 3, 'a blocked rule is reported as before');
  const report = reportWith(rules, { mode: { write: true, strict: false, min_checked: 3 } });
  t.equal(report.exit_code, 1);
  const sentence = 'Only 2 rules were checked, fewer than the 3 that --min-checked requires.';
  for (const name of REPORTERS.filter((one) => one !== 'json')) {
    t.match(reporterOf(name, false)(report), sentence, `${name} has the sentence`);
  }
  t.match(reporterOf('junit', false)(report), /failures="1"/);
  const broken = reportWith([resultOf('fail')], { mode: { write: true, strict: false, min_checked: 3 } });
  t.match(reporterOf('pretty', false)(broken), /Only 1 rule was checked.*does not conform/s);
  const part = { index: 1, count: 2 };
  const shard = reportWith([resultOf('pass')], { mode: { write: true, strict: false, min_checked: 3, shard: part } });
  t.equal(shard.exit_code, 0, 'the minimum applies to the merged result');
});

t.test('the command fails if too few rules are checked', async (t) => {
  const only = ['--only', 'err.route-not-found.no-auth,general.https', '--quiet'];
  const few = await conformance('run', ...only, '--min-checked', '2');
  t.equal(few.code, 1);
  t.match(few.out, 'Only 1 rule was checked, fewer than the 2 that --min-checked requires.');
  const enough = await conformance('run', ...only, '--min-checked', '1', '--reporter', 'json');
  t.equal(enough.code, 0);
  const { coverage, mode } = readReport(enough.out);
  t.same(coverage, { checked: 1, total: 2 });
  t.equal(mode.min_checked, 1);
  const wrong = await conformance('run', ...only, '--min-checked', '0');
  t.equal(wrong.code, 2);
});
