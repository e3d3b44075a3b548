import t from 'tap';
import { run, startEmulator } from '../index.js';
import { allRules } from '../rules/registry.js';
import { WRONG_BEHAVIOURS } from './wrong/behaviours.js';
import { startProxy } from './wrong/proxy.js';

const emulator = await startEmulator();
t.teardown(() => emulator.stop());

/** How a rule says that it is broken. */
const BROKEN = { MUST: 'fail', SHOULD: 'warn', MAY: 'warn', UNSPECIFIED: 'warn' } as const;

t.test('through a proxy that changes nothing, all of these rules hold', async (t) => {
  await using proxy = await startProxy(emulator.target, {});
  const named = WRONG_BEHAVIOURS.flatMap(({ rule }) => rule.split(','));
  const report = await run(proxy.target, { only: named.join() });
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
    const report = await run(proxy.target, { only: rule });
    const level = allRules().find((one) => one.id === id)?.level ?? 'MUST';
    const result = report.rules.find((one) => one.id === id);
    t.equal(result?.verdict, BROKEN[level], result?.reason ?? 'it has a verdict');
    t.equal(report.counts.error, 0, 'nothing in the suite broke');
  });
}
