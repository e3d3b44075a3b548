import { join } from 'node:path';
import t, { type Test } from 'tap';
import { callAdmin } from '../http/admin.js';
import { run, startTargetEmulator } from '../index.js';
import { expectLegal } from './legal/expect-right.js';
import { startTraffic } from './legal/traffic.js';
import { otherValues } from './legal/variants.js';
import { sample } from './sample.js';

/** Tests of services that are busy, or that behave unusually but legally. The suite must report no broken rule. */
const SERVICES: Readonly<Record<string, (t: Test) => Promise<void>>> = {
  'one that answers awkwardly as well, and has other clients': async (t) => {
    const file = join(t.testdir({ 'variants.json': JSON.stringify(otherValues(1)) }), 'variants.json');
    const awkward = await startTargetEmulator('--variants', file, '--adversarial');
    t.teardown(() => awkward.close());
    await using traffic = startTraffic(awkward.target);
    expectLegal(t, await run(awkward.target));
    t.ok(traffic.repositories > 3, `${traffic.repositories} repositories of others came`);
  },
  'an organization that others use at the same time': async (t) => {
    const busy = await startTargetEmulator();
    t.teardown(() => busy.close());
    await using traffic = startTraffic(busy.target);
    expectLegal(t, await run(busy.target, { strict: true }));
    t.ok(traffic.repositories > 3, `${traffic.repositories} repositories of others came`);
  },
  'a service that serves fifty requests a second and no more': async (t) => {
    const slow = await startTargetEmulator('--adversarial');
    t.teardown(() => slow.close());
    const quotas = { gateway: { capacity: 50, refill: '50/s' } };
    await callAdmin({ url: `${slow.target.adminUrl}/quotas`, method: 'PATCH', json: { quotas } });
    const report = await run(slow.target, { only: 'repo,commit,file,limit,rate,write.result,restricted' });
    expectLegal(t, report);
  },
};

// Run three tests in parallel, because they mostly wait for responses.
t.jobs = 3;
for (const [title, test] of sample(t, Object.entries(SERVICES), 1)) t.test(title, { buffered: true }, test);
