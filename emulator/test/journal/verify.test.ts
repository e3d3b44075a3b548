import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { ADMIN_PREFIX } from '../../admin/path.js';
import { LIMITS } from '../../config/limits.js';
import { recordOf } from '../../journal/test/record.js';
import { Schedule, SLICE } from '../../schedule/schedule.js';
import { startAdmin } from '../admin/admin-service.js';
import { startService } from '../service.js';

t.test('verification distinguishes clients that retry and wait, retry too early, or do not retry', async (t) => {
  const { admin, call, seed, emulator } = await startAdmin(t);
  await seed('r');
  const read = (sub: string) => call('GET', '/api/v1/repo', { repo: 'r', headers: { 'x-emulator-scenario': sub } });
  const plan = async (id: string) => {
    await admin('POST', '/faults', {
      id,
      spec: 'rate_limited*1;retry-after=5',
      match: { op: 'getRepository', scenario: id },
    });
  };
  const expectations = (after: string) => ({
    after,
    requests: [{ match: { operation: 'getRepository' }, count: 2, minGap: 'retry-after' }],
    faults: { everyFired: true },
    client: true,
  });
  const verify = async (after: string) => (await admin('POST', '/verify', expectations(after))).json;
  const last = () => emulator.requests().at(-1)!.id;

  const before = last();
  await plan('polite');
  t.equal((await read('polite')).status, 429);
  await emulator.clock.advance('PT5S');
  t.equal((await read('polite')).status, 200);
  t.match(await verify(before), { met: true, unmet: [] });

  const between = last();
  await plan('hasty');
  t.equal((await read('hasty')).status, 429);
  t.equal((await read('hasty')).status, 200);
  const hasty = await verify(between);
  t.equal(hasty.met, false);
  t.match(hasty.unmet, [{ at: 'requests.0' }], 'the retry was sent too early');
  t.ok(hasty.client.some(({ verdict }: { verdict: string }) => verdict === 'broken'));

  const end = last();
  await plan('idle');
  const idle = await verify(end);
  t.equal(idle.met, false);
  t.match(
    idle.unmet.map(({ at }: { at: string }) => at).sort(),
    ['faults.idle', 'requests.0'],
    'the request was not retried and the fault did not fire',
  );
  t.match(emulator.verify({ requests: [{ match: { operation: 'deleteRepository' }, never: true }] }), { met: true });
  for (const [body, detail] of [
    [{ request: [] }, /"request"/],
    [{ requests: [{ match: { operation: 'getBranch' }, count: -1 }] }, /requests\.0\.count/],
    [{ requests: [{ match: { color: 'red' }, count: 1 }] }, /color/],
  ] as const)
    t.match(await admin('POST', '/verify', body), { status: 400, json: { detail } }, JSON.stringify(body));
});

t.test('verifying a full journal does not block other requests for long', async (t) => {
  // Stop the scheduler's clock. Only counted work can then end a slice (time between two yields to other requests).
  // Uncounted work shows as a slice that is too long, or as a total that is too small.
  const schedule = new Schedule({ now: () => 0 });
  const { call, emulator, world } = await startService({}, { schedule });
  t.teardown(() => emulator.close({ graceMs: 0 }));
  const [entries] = LIMITS.maxJournal;
  const { journal } = world.state;
  for (let at = 0; at < entries; at++) journal.add(recordOf(at, { operation: 'getBranch', status: 503, started: at }));
  const expect = { client: true, requests: Array(50).fill({ match: { operation: 'getBranch' }, count: 1 }) };
  const scenario = { id: 'full', expect };
  const ask = (method: string, path: string, json?: unknown) =>
    call(method, ADMIN_PREFIX + path, { token: null, ...(json !== undefined && { json }) });
  t.equal((await ask('POST', '/scenarios', scenario)).status, 201);
  for (const [method, path, json] of [
    ['POST', '/verify', expect],
    ['GET', '/scenarios/full', undefined],
  ] as const) {
    await setImmediate();
    schedule.longestSlice = 0;
    const before = schedule.spent;
    const response = await ask(method, path, json);
    t.equal(response.status, 200, path);
    t.equal((path === '/verify' ? response.json : response.json.verification).unmet.length, 50);
    t.ok(schedule.spent - before > 50 * entries * 0.05, `${path}: ${schedule.spent - before} units`);
    t.ok(schedule.longestSlice <= SLICE + 6_000, `${path}: ${schedule.longestSlice} units at most`);
  }
});
