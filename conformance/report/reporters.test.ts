import t from 'tap';
import { Parser } from 'tap-parser';
import { REPORTERS, reporterOf } from './reporters.js';
import { type Report, type RuleResult, VERDICTS, type Verdict } from './results.js';
import { hostileResult, reportWith, resultOf } from './test/sample-report.js';

function resultAt(verdict: Verdict, index: number): RuleResult {
  return resultOf(verdict, `rule.${verdict}`, {
    says: `Rule #${index} says "this" \\ and <that>.`,
    ...(['pass', 'warn'].includes(verdict) ? { evidence: 'injected' as const } : {}),
    reason: `because of ${verdict}: # 1\nsecond line`,
    expected: { a: [1, '\u0007'] },
    actual: 'x'.repeat(1000),
    transcript: [{ request: 'GET /x', response: '200\n\n{}' }],
    curl: 'curl -sS http://127.0.0.1/x',
  });
}

function reportOf(verdicts: readonly Verdict[], strict = false, interrupted = false): Report {
  return reportWith(verdicts.map(resultAt), { mode: { write: true, strict }, interrupted });
}

function parseTap(text: string) {
  const parser = new Parser();
  parser.end(text);
  const results = parser.results;
  if (results === null) throw new Error('no results');
  return results;
}

t.test('TAP is read by a TAP parser, with every failure counted', async (t) => {
  const results = parseTap(reporterOf('tap', false)(reportOf(VERDICTS)));
  t.match(results, { ok: false, count: 9, fail: 3, skip: 2, bailout: false });
  t.equal(results.failures.length, 3, 'no parse errors among the failures');
  t.match(results.failures[0], { name: 'rule.fail: Rule #1 says "this" \\ and <that>.', diag: { verdict: 'fail' } });
});

t.test('TAP of a conformant target is ok', async (t) => {
  t.match(parseTap(reporterOf('tap', false)(reportOf(['pass', 'observed', 'warn', 'variant', 'skip']))), {
    ok: true,
    count: 5,
  });
});

t.test('TAP of a strict run counts warnings and variants as failures', async (t) => {
  t.match(parseTap(reporterOf('tap', false)(reportOf(['pass', 'warn', 'variant'], true))), { ok: false, fail: 2 });
});

t.test('TAP of a run that checked nothing, or was interrupted, is not ok', async (t) => {
  t.match(parseTap(reporterOf('tap', false)(reportOf(['skip', 'skip']))), { ok: false });
  t.match(parseTap(reporterOf('tap', false)(reportOf(['pass'], false, true))), { ok: false });
});

t.test('every reporter marks rules that were checked on injected responses', async (t) => {
  const report = reportOf(['pass', 'warn', 'fail']);
  const text = reporterOf('tap', false)(report);
  t.match(text, /^ok 1 - rule\.pass.*\n {2}---\n(.*\n)*? {2}evidence: injected\n/m);
  t.equal(text.match(/evidence: injected/g)?.length, 2);
  t.match(parseTap(text), { count: 3, pass: 2, fail: 1 });
  t.match(
    reporterOf('pretty', false)(report),
    /^injected {4}2 {2}checked on responses that a fault of the emulator produced$/m,
  );
  t.notMatch(reporterOf('pretty', false)(reportOf(['fail'])), /faults/);
});

t.test('JSON is the report', async (t) => {
  const report = reportOf(VERDICTS);
  t.same(JSON.parse(reporterOf('json', false)(report)), report);
});

t.test('the pretty report explains the failure and how to repeat it', async (t) => {
  const text = reporterOf('pretty', false)(reportOf(VERDICTS));
  t.match(text, /fail rule\.fail\n {2}MUST, Errors: Rule #1 says/);
  t.match(text, /expected \{"a"/);
  t.match(text, /\$ curl -sS/);
  t.match(text, /npx conformance run --only rule\.fail/);
  t.match(text, /does not conform\. 6 of 9 rules checked/);
  t.notMatch(text, '\u001b', 'no colours');
  t.match(reporterOf('pretty', true)(reportOf(['fail'])), '\u001b[31m', 'colours when asked');
});

t.test('TAP has one test point per rule, whatever text the target sends', async (t) => {
  const results = parseTap(reporterOf('tap', false)(reportWith([hostileResult('fail'), hostileResult('skip')])));
  t.match(results, { count: 2, fail: 1, skip: 1, bailout: false });
  t.match(results.failures[0]?.diag, { actual: /<\/script>/, nearest: [/./, /^differs in: query ref/] });
});

t.test('control characters sent by a target are escaped', async (t) => {
  const text = reporterOf('pretty', false)(reportWith([hostileResult('fail'), hostileResult('warn')]));
  t.notMatch(text, /[^\P{Cc}\n\t]/u);
  t.match(text, '\\x1b[31m');
});

t.test('every reporter lists a failed fixture once, before the rules that it blocked', async (t) => {
  const setup = [
    {
      name: 'a repository with a commit',
      verdict: 'fail' as const,
      reason: 'the canary is told',
      expected: 201,
      actual: '500',
    },
  ];
  const more = { setup, notices: ['All responses are identical.'], exit_code: 1 };
  const report = reportWith([resultOf('pass'), ...['a', 'b', 'c'].map((id) => resultOf('blocked', id))], more);
  for (const name of REPORTERS) {
    const text = reporterOf(name, false)(report);
    t.match(text, 'a repository with a commit', name);
    t.notMatch(text, 'run --only set-up', name);
    if (name !== 'junit') t.match(text, 'All responses are identical', name);
    if (!['junit', 'html'].includes(name)) t.equal(text.match(/the canary is told/g)?.length, 1, name);
  }
  t.match(parseTap(reporterOf('tap', false)(report)), { count: 5, fail: 1, skip: 3 });
  t.match(reporterOf('junit', false)(report), / failures="1"/);
  t.match(reporterOf('pretty', false)(report), /^fail set-up: a repository with a commit\n/);
});

t.test('a run that ended early reports the reason and the repositories that remain', async (t) => {
  const ended = { by: 'target' as const, reason: 'the target is gone' };
  const cleanup = { made: 2, removed: 1, left: ['cf-1/n2'], reason: 'the target is gone' };
  const report = reportWith([resultOf('pass')], { ended, cleanup, exit_code: 3 });
  for (const name of REPORTERS) t.match(reporterOf(name, false)(report), 'the target is gone', name);
  t.match(parseTap(reporterOf('tap', false)(report)), { ok: false });
  t.match(reporterOf('pretty', false)(report), /Left behind on the target \(the target is gone\): cf-1\/n2/);
  t.match(reporterOf('junit', false)(report), / failures="1"/);
});

t.test('the pretty report groups many equal failures; other formats list every rule', async (t) => {
  const id = (kind: string, at: number) => `${kind}.n${at}.`;
  const many = (kind: string, count: number, one: (at: number) => RuleResult) =>
    Array.from({ length: count }, (_, at) => ({ ...one(at), id: id(kind, at) }));
  const facts = { reason: 'unexpected status', expected: 200, actual: '404' };
  const transcript = [{ request: 'GET /x', response: `404\n\n${'a line\n'.repeat(500)}` }];
  const rules = [
    ...many('same', 200, () => resultOf('fail', '', { ...facts, transcript, curl: 'curl http://127.0.0.1/x' })),
    ...many('own', 50, (at) => resultOf('fail', '', { ...facts, actual: `${at}` })),
    ...many('warned', 100, (at) => resultOf('warn', '', { reason: `reason ${at}` })),
    ...many('blocked', 300, (at) => resultOf('blocked', '', { reason: `step ${at % 30} could not be created` })),
    ...many('skipped', 60, () => resultOf('skip', '', { reason: 'needs a key' })),
  ];
  const left = Array.from({ length: 91 }, (_, at) => `cf-1/n${at}`);
  const report = reportWith(rules, { cleanup: { made: 91, removed: 0, left }, exit_code: 1 });
  const text = reporterOf('pretty', false)(report);
  t.ok(text.split('\n').length < 100, `${text.split('\n').length} lines`);
  t.match(
    text,
    /^fail same\.n0\.\n(.*\n)* {2}< … \(486 more lines\)\n(.*\n)* {2}\$ curl/,
    'one of them as it happened',
  );
  t.match(text, /^fail 199 times {2}unexpected status: expected 200, actual 404\n {2}same\.n1\., .* and 194 more$/m);
  t.match(text, /^145 more rules have other reasons\.$/m);
  t.match(text, /^blocked {3}10 {2}step 0 could not be created$/m);
  t.match(text, /^blocked {2}180 {2}18 other reasons$/m);
  t.match(text, /^skip {6}60 {2}needs a key$/m);
  t.notMatch(text, /(blocked|skipped)\.n\d/, 'no rule that was not checked');
  t.match(text, /: cf-1\/n0, .*, cf-1\/n7 and 83 more$/m);
  for (const name of ['json', 'tap', 'junit', 'html'] as const) {
    const whole = reporterOf(name, false)(report);
    t.same(rules.filter((rule) => !whole.includes(rule.id)).length, 0, name);
  }
  t.equal(reporterOf('github', false)(report).match(/^::warning title=Not checked::10 rules/gm)?.length, 30);
  t.match(reporterOf('markdown', false)(report), /^- … 10 blocked: step 0 could not be created$/m);
  const few = reporterOf('pretty', false)(reportWith([...rules.slice(0, 3), ...rules.slice(250, 350)]));
  t.equal(few.match(/^fail same/gm)?.length, 3, 'few broken rules are shown one by one');
  t.equal(few.match(/^warn {2}reason/gm)?.length, 40, 'and of very many warnings the commonest');
});

t.test('very long curl commands are not printed in the pretty report', async (t) => {
  const curlOf = (length: number) =>
    reporterOf('pretty', false)(reportWith([resultOf('fail', 'a.b', { curl: 'c'.repeat(length) })]));
  t.match(curlOf(4096), /^ {2}\$ c{4096}$/m);
  t.notMatch(curlOf(4097), 'cc');
  t.match(curlOf(4097), 'the curl command has 4097 characters; see --reporter json');
});

t.test('every mark used in a row is in the legend', async (t) => {
  const text = reporterOf('pretty', false)(reportOf(VERDICTS));
  const [, marks = ''] = /^Errors +[^✓]* {2}(\S+)$/m.exec(text) ?? [];
  t.equal([...marks].length, VERDICTS.length);
  t.equal(new Set(marks).size, VERDICTS.length, 'no two are alike');
  for (const mark of marks)
    t.ok(
      text.split('\n').some((line) => line.startsWith(`${mark} `)),
      mark,
    );
});

t.test('exit codes', async (t) => {
  const code = (verdicts: Verdict[], strict = false, interrupted = false) =>
    reportOf(verdicts, strict, interrupted).exit_code;
  t.equal(code(['pass', 'warn', 'variant', 'observed', 'skip']), 0);
  t.equal(code(['pass', 'fail', 'error']), 1);
  t.equal(code(['pass', 'flaky']), 1);
  t.equal(code(['pass', 'warn'], true), 1);
  t.equal(code(['pass', 'variant'], true), 1);
  t.equal(code(['skip']), 2);
  t.equal(code([]), 2);
  t.equal(code(['pass', 'blocked']), 3);
  t.equal(code(['pass', 'error']), 4);
  t.equal(code(['fail'], false, true), 130);
  t.equal(REPORTERS.length, 7);
});
