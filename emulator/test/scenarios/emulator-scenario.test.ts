import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Namespace } from '../../library/emulator.js';
import { callerOf, startService } from '../service.js';

t.test('an emulator starts with a scenario, whose seed and clock are defaults', async (t) => {
  const file = join(t.testdir(), 's.yaml');
  writeFileSync(
    file,
    `id: s
seed: 7
clock: { mode: frozen, now: 2026-05-01T00:00:00Z }
state:
  repositories:
    '*': { state: thawing, ends: { requests: 1 } }
`,
  );
  const first = await startService({ scenario: file });
  t.teardown(() => first.emulator.close({ graceMs: 0 }));
  const story = async () => {
    t.equal((await first.call('POST', '/api/repos')).status, 201);
    t.match(await first.call('GET', '/api/v1/repo'), { status: 409, json: { code: 'repository_thawing' } });
    t.equal((await first.call('GET', '/api/v1/repo')).status, 200);
  };
  t.match(first.emulator.clock, { mode: 'frozen' });
  t.equal(first.emulator.clock.now(), Date.parse('2026-05-01T00:00:00Z'));
  t.equal(first.world.config.seed, '7');
  await story();
  await first.emulator.reset();
  t.equal(first.emulator.clock.mode, 'frozen', 'a reset restores the initial state');
  await story();
  const second = await startService({ scenario: file, clock: '2026-01-01T00:00:00Z', seed: '1' });
  t.teardown(() => second.emulator.close({ graceMs: 0 }));
  t.equal(second.world.config.seed, '1');
  t.match(second.emulator.clock, { mode: 'tick' });
  writeFileSync(file, 'id: s\nstates: {}\n');
  await t.rejects(startService({ scenario: file }), { message: /s\.yaml: .*"states"/ });
  writeFileSync(file, 'id: [s\n');
  await t.rejects(startService({ scenario: file }), { message: /s\.yaml: .*line 2/ });
  await t.rejects(startService({ scenario: `${file}.none` }), {
    message: /cannot be read: no such file or directory/,
  });
});

t.test('a namespace starts with the scenario of the emulator, under its own options', async (t) => {
  const file = join(t.testdir(), 's.yaml');
  const begin = Date.parse('2026-05-01T00:00:00Z');
  writeFileSync(
    file,
    `id: s
seed: 7
clock: { mode: frozen, now: 2026-05-01T00:00:00Z }
state:
  limits: { maxJsonBytes: 5000, maxMetadataCommits: 1 }
  variants: { notesStatus: '200' }
  repositories:
    '*': { state: thawing, ends: { requests: 1 } }
quotas: { q: { capacity: 1, refill: 1/m, cost: { '*': 0, getOrganization: 1 } } }
faults: ['bad_gateway*1']
steps:
  - { on: { op: getOrganization }, faults: ['internal_error*1'] }
  - { after: 5s, faults: ['not_implemented*1'] }
`,
  );
  const service = await startService({ scenario: file });
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  // Change the emulator before the namespaces are created. A namespace must begin like a new emulator, without these
  // changes.
  await service.call('GET', '/api/meta');
  await service.emulator.clock.advance(1000);
  const story = async ({ requests, clock, quotas, ...own }: Namespace) => {
    const call = callerOf(own.baseUrl, service.token);
    t.equal((await call('POST', '/api/repos')).status, 502, 'its fault');
    t.equal((await call('POST', '/api/repos')).status, 201);
    t.match(await call('GET', '/api/v1/repo'), { status: 409, json: { code: 'repository_thawing' } }, 'its state');
    t.equal((await call('GET', '/api/v1/repo')).status, 200);
    t.match(quotas.read(), { q: { capacity: 1 } });
    t.equal((await call('GET', '/api/meta')).status, 200);
    t.equal((await call('GET', '/api/v1/repo')).status, 500, 'the first step of the scenario');
    t.equal((await call('GET', '/api/v1/repo')).status, 200);
    await clock.advance(5000);
    t.equal((await call('GET', '/api/v1/repo')).status, 501, 'the second step of the scenario');
    t.equal((await call('GET', '/api/meta')).status, 429, 'its quota');
    return requests().map((entry) => JSON.stringify([entry.id, entry.status, entry.origin]));
  };
  const first = await service.emulator.namespace();
  t.equal(first.clock.now(), begin);
  t.match(first.state.read(), { limits: { maxJsonBytes: 5000 }, variants: { notesStatus: '200' } });
  const told = await story(first);
  await first.reset();
  t.equal(first.clock.now(), begin, 'a reset restores the initial state');
  t.same(await story(first), told);
  const other = await service.emulator.namespace({
    clock: '2026-01-01T00:00:00Z',
    limits: { maxJsonBytes: 7000 },
    variants: { notesStatus: '201' },
  });
  t.equal(other.clock.mode, 'tick');
  t.ok(other.clock.now() < begin);
  t.match(other.state.read(), {
    limits: { maxJsonBytes: 7000, maxMetadataCommits: 1 },
    variants: { notesStatus: '201' },
  });
  await story(other);
  const snapshot = await service.emulator.snapshot();
  const forked = await service.emulator.namespace({ snapshot });
  const call = callerOf(forked.baseUrl, service.token);
  t.equal((await call('GET', '/api/meta')).status, 429, 'a namespace from a snapshot continues its scenario');
});
