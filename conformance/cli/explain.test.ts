import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { UNLIMITED } from '../http/limiter.js';
import { REPORTERS, reporterOf } from '../report/reporters.js';
import { allRules, selectRules } from '../rules/registry.js';
import { readMutants } from '../run/proof.js';
import { runRules } from '../run/runner.js';
import { minimal, startTestServer } from '../test/test-server.js';
import { proofLines } from './explain.js';
import { main } from './main.js';

const TABLE =
  'mutant\tdoes\trule\tmore\tverdict\tclauses\r\nm1\tdoes this\ta\t\tkilled\tone,two\r\nm2\tdoes that\ta\t\tsilent\r\nm3\t\tb\tx\tdead\n';

t.test('the columns of the mutant table are found by name', async (t) => {
  const file = join(t.testdir({}), 'mutants.tsv');
  t.equal(await readMutants(file), undefined, 'there is none');
  writeFileSync(file, TABLE);
  t.same(await readMutants(file), [
    { rule: 'a', mutant: 'm1', verdict: 'killed', does: 'does this', clauses: 'one,two' },
    { rule: 'a', mutant: 'm2', verdict: 'silent', does: 'does that', clauses: '' },
    { rule: 'b', mutant: 'm3', verdict: 'dead', does: '', clauses: '' },
  ]);
});

t.test('a rule is proven by a mutant that it detects, and a MUST rule without one is unproven', async (t) => {
  const row = { rule: 'a', mutant: 'm', does: 'does this', clauses: '' };
  t.same(proofLines('MUST', [{ ...row, verdict: 'killed' }]), [
    '  proof    it noticed a mutant',
    '  mutant   killed: does this (m)',
  ]);
  t.match(proofLines('MUST', [{ ...row, verdict: 'killed', clauses: 'one,two' }])[1], '(m; breaks one, two)');
  t.match(proofLines('MUST', [{ ...row, verdict: 'silent' }]), [/unproven/, /silent: does this/]);
  t.match(proofLines('MUST', []), [/unproven/]);
  t.same(proofLines('SHOULD', []), []);
});

t.test('every report calls a MUST rule unproven if no mutant breaks it and mutants are known', async (t) => {
  const server = await startTestServer(minimal);
  t.teardown(() => server.close());
  const rules = selectRules(allRules(), 'other.meta.exists,jwt.alg.none,err.5xx-safe');
  const check = (proven?: ReadonlySet<string>) =>
    runRules(server.target, {
      rules,
      strict: false,
      limiter: UNLIMITED,
      width: 1,
      timeout: 5000,
      signal: new AbortController().signal,
      prefix: 'x',
      onRepository: () => Promise.resolve(),
      onResult: () => undefined,
      now: Date.now,
      ...(proven === undefined ? {} : { proven }),
    });
  const report = await check(new Set(['jwt.alg.none']));
  const called = report.rules.filter(({ unproven }) => unproven).map(({ id }) => id);
  t.same(called, ['other.meta.exists'], 'neither what is proven nor a SHOULD');
  for (const name of REPORTERS) {
    t.match(reporterOf(name, false)(report), 'unproven', name);
  }
  const none = await check();
  for (const name of REPORTERS) t.notMatch(reporterOf(name, false)(none), 'unproven', name);
});

t.test('explain shows what a rule requires', async (t) => {
  let out = '';
  const print = (text: string) => {
    out += text;
  };
  const terminal = { print, printed: () => Promise.resolve(undefined), warn: () => undefined };
  t.equal(await main(['explain', 'jwt.alg.none'], terminal), 0);
  for (const part of [
    /An unsigned token \(alg none\) is rejected\./,
    /level {4}MUST/,
    /section {2}Token header/,
    /reach {4}any/,
  ]) {
    t.match(out, part);
  }
  t.match(out, 'see      conformance/SPECIFICATION.md#jwt.alg.none\n');
  t.match(out, /open {5}A01, HTTP status of an invalid token\. .*\bemulator .*\b403\b/);
});
