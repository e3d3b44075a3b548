import t from 'tap';
import { run } from '../index.js';
import type { Target } from '../target/target.js';
import { combine, UNUSUAL_PROPERTIES, type UnusualProperty } from './legal/unusual.js';
import { startProxy } from './mutants/proxy.js';
import { sample } from './sample.js';
import { startNamespace } from './shared-emulator.js';

const emulator = await startNamespace(t);
const { LEGAL: wanted } = process.env;

/**
 * Properties of unusual but legal services, in three groups. One server per group has all properties of the group,
 * because each run of the suite takes several seconds. To test a single property, set `LEGAL` to a part of its name.
 */
const GROUPS: readonly (readonly UnusualProperty[])[] =
  wanted === undefined
    ? [0, 1, 2].map((group) => UNUSUAL_PROPERTIES.filter((_property, index) => index % 3 === group))
    : [UNUSUAL_PROPERTIES.filter(({ name }) => name.includes(wanted))];

/**
 * Returns a copy of an emulator's target that looks like a production service. The copy has no admin API and none of
 * the routes that are missing from the specification.
 */
function asDeployment({ adminUrl: _, ...target }: Target): Target {
  return { ...target, companion: false };
}

for (const group of sample(t, GROUPS, 1)) {
  const names = group.map(({ name }) => name).join('; ');
  t.test(`a server with ${names} conforms`, async (t) => {
    const [rewrite, allowed] = [combine(group.map((one) => one.rewrite)), group.flatMap(({ warns = [] }) => warns)];
    await using proxy = await startProxy(emulator, rewrite);
    for (const target of [proxy.target, asDeployment(proxy.target)]) {
      const report = await run(target, { rate: Number.POSITIVE_INFINITY });
      const complaints = report.rules.filter(
        ({ id, verdict }) =>
          ['fail', 'error', 'flaky', 'blocked'].includes(verdict) || (verdict === 'warn' && !allowed.includes(id)),
      );
      t.same(
        complaints.map(({ id, verdict, reason, expected, actual }) => ({ id, verdict, reason, expected, actual })),
        [],
        target.adminUrl === undefined ? 'as a deployment' : 'as an emulator',
      );
      t.equal(report.exit_code, 0);
    }
  });
}
