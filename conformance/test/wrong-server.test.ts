import t from 'tap';
import type { RunContext } from '../check/run-context.js';
import { GROUP_FIXTURE } from '../fixtures/repositories.js';
import { UNLIMITED } from '../http/limiter.js';
import { startEmulator } from '../index.js';
import { allRules, selectRules } from '../rules/registry.js';
import { runRules } from '../run/runner.js';
import type { Target } from '../target.js';
import { WRONG_BEHAVIOURS } from './wrong/behaviours.js';
import { startProxy } from './wrong/proxy.js';

const emulator = await startEmulator();
t.teardown(() => emulator.stop());

/** How a rule says that it is broken. */
const BROKEN = { MUST: 'fail', SHOULD: 'warn', MAY: 'warn', UNSPECIFIED: 'warn' } as const;

let runs = 0;

function runOnly(target: Target, only: string, fixtures: RunContext['fixtures']) {
  runs += 1;
  return runRules(target, {
    rules: selectRules(allRules(), only),
    strict: false,
    limiter: UNLIMITED,
    width: 8,
    timeout: 15_000,
    signal: new AbortController().signal,
    prefix: `wrong-${runs}`,
    onRepository: () => Promise.resolve(),
    onResult: () => undefined,
    now: Date.now,
    fixtures,
  });
}

/**
 * What the run through the unchanged proxy made for rules to read. With it, a wrong server is seen by the rule itself
 * and never by the making of a fixture.
 */
const fixtures: RunContext['fixtures'] = new Map();

t.test('through a proxy that changes nothing, all of these rules hold', async (t) => {
  await using proxy = await startProxy(emulator.target, {});
  const named = WRONG_BEHAVIOURS.flatMap(({ rule }) => rule.split(','));
  const report = await runOnly(proxy.target, named.join(), fixtures);
  const broken = report.rules.filter(
    ({ id, verdict }) => named.includes(id) && verdict !== 'pass' && verdict !== 'observed',
  );
  t.same(
    broken.map(({ id, verdict, reason }) => `${id}: ${verdict}, ${reason}`),
    [],
  );
});

for (const { rule, does, rewrite } of WRONG_BEHAVIOURS) {
  const [id] = rule.split(',');
  t.test(`${id} notices a server that ${does}`, async (t) => {
    await using proxy = await startProxy(emulator.target, rewrite);
    // Repositories that rules write to are made anew.
    const readOnly = [...fixtures].filter(([name]) => !name.startsWith(GROUP_FIXTURE));
    const report = await runOnly(proxy.target, rule, new Map(readOnly));
    const result = report.rules.find((one) => one.id === id);
    t.equal(result?.verdict, BROKEN[result?.level ?? 'MUST'], result?.reason ?? 'it has a verdict');
    t.equal(report.counts.error, 0, 'nothing in the suite broke');
  });
}
