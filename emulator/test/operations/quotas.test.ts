import t, { type Test } from 'tap';
import { Workbench } from '../../git/test/workbench.js';
import type { QuotaChanges } from '../../library/state.js';
import { type Service, startService } from '../service.js';

async function start(t: Test, quotas: QuotaChanges): Promise<Service> {
  const service = await startService({ clock: '2026-01-01T00:00:00Z' });
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  await service.seed('team/app');
  service.emulator.quotas.change(quotas);
  await service.emulator.clock.freeze();
  return service;
}

t.test('a request passes after the Retry-After delay, and is refused one second earlier', async (t) => {
  for (const refill of ['1/s', '1/10s', '7/m', '3/2s', '1/1500ms']) {
    const service = await start(t, { gateway: { capacity: 3, refill, cost: { '*': 2 } } });
    const { clock } = service.emulator;
    const ask = () => service.call('GET', '/api/v1/repo');
    t.equal((await ask()).status, 200);
    await clock.advance(17);
    for (let round = 0; round < 3; round++) {
      const refused = await ask();
      t.match(refused, {
        status: 429,
        json: { code: 'rate_limited' },
        headers: { 'content-type': 'application/problem+json' },
      });
      const wait = Number(refused.headers['retry-after']);
      t.match(refused.headers.ratelimit, /^"gateway";r=[01];t=\d+$/);
      t.ok(wait >= 1);
      await clock.advance((wait - 1) * 1000);
      t.equal((await ask()).status, 429, `${refill}: one second less`);
      await clock.advance(1000);
      t.equal((await ask()).status, 200, `${refill}: after ${wait} s`);
    }
  }
});

t.test('Retry-After is seconds, a date, longer than the window, or omitted', async (t) => {
  const refused = async (retryAfter: { add?: number; format?: 'seconds' | 'http-date' | 'omit' }) => {
    const service = await start(t, { gateway: { capacity: 1, refill: '1/10s', retryAfter } });
    await service.call('GET', '/api/v1/repo');
    const { status, headers } = await service.call('GET', '/api/repos/team%2Fapp/files/metadata');
    t.equal(status, 429);
    t.equal(
      headers['content-type'],
      'application/problem+json',
      'throttling is never in the dialect of the tree limit',
    );
    return { wait: headers['retry-after'], limit: headers.ratelimit, now: service.emulator.clock.now() };
  };
  t.match(await refused({}), { wait: '10', limit: '"gateway";r=0;t=10' });
  t.match(await refused({ add: 50 }), { wait: '60', limit: '"gateway";r=0;t=10' });
  const { wait, now } = await refused({ format: 'http-date' });
  t.match(wait, /GMT$/);
  const until = Date.parse(wait!) - now;
  t.ok(until >= 10_000 && until < 11_000, `${until} ms`);
  t.equal((await refused({ format: 'omit' })).wait, undefined);
});

t.test('Git routes are throttled per phase, and git reports the refusal', async (t) => {
  const service = await start(t, {});
  const bench = await Workbench.create();
  t.teardown(() => bench[Symbol.asyncDispose]());
  const remote = await service.remote('team/app');
  await bench.git('.', 'clone', '-q', remote, 'work');
  for (const [op, command] of [
    ['gitInfoRefs', ['fetch']],
    ['gitUploadPack', ['clone', remote, 'again']],
    ['gitReceivePack', ['push', 'origin', 'HEAD:refs/heads/new']],
  ] as const) {
    // Allow one request per hour. The first request of this kind succeeds, and the request of the git command is
    // refused. Git does not repeat it.
    service.emulator.quotas.change({ git: { capacity: 1, refill: '1/1h', cost: { [op]: 1 }, by: ['op'] } });
    const row = OPERATION_REQUESTS[op];
    const first = await service.call(row.method, row.target, row.options);
    t.not(first.status, 429, op);
    await t.rejects(bench.git(command[0] === 'clone' ? '.' : 'work', ...command), /429/, `${op}: git ${command[0]}`);
    service.emulator.quotas.change({ git: null });
  }
  t.notMatch(await bench.git('work', 'ls-remote', 'origin'), /refs\/heads\/new/);
});

const OPERATION_REQUESTS = {
  gitInfoRefs: { method: 'GET', target: '/team/app.git/info/refs?service=git-upload-pack', options: {} },
  gitUploadPack: {
    method: 'POST',
    target: '/team/app.git/git-upload-pack',
    options: { body: '0000', headers: { 'content-type': 'application/x-git-upload-pack-request' } },
  },
  gitReceivePack: {
    method: 'POST',
    target: '/team/app.git/git-receive-pack',
    options: { body: '0000', headers: { 'content-type': 'application/x-git-receive-pack-request' } },
  },
};

t.test('an invalid quota is refused with the name of the member, and nothing changes', async (t) => {
  const { emulator } = await start(t, { kept: { capacity: 5, refill: '1/s' } });
  const { quotas } = emulator;
  const shown = {
    kept: { by: ['org'], capacity: 5, refill: '1/s', cost: { '*': 1 }, retryAfter: { add: 0, format: 'seconds' } },
  };
  t.same(quotas.read(), shown);
  const good = { capacity: 5, refill: '1/s' };
  for (const [change, sentence] of [
    [{ q: { ...good, capacity: 0 } }, /q\.capacity/],
    [{ q: { ...good, refill: 'often' } }, /q\.refill: must be a rate/],
    [{ q: { ...good, refill: '0/s' } }, /q\.refill/],
    [{ q: { ...good, refill: '1/90000h' } }, /q\.refill/],
    [{ q: { ...good, by: ['ip'] } }, /q\.by/],
    [{ q: { ...good, cost: { push: 1 } } }, /q\.cost\.push: .*id of an operation/],
    [{ q: { ...good, cost: { '*': 6 } } }, /q\.cost\.\*: must be at most the capacity of the quota/],
    [{ q: { ...good, retryAfter: { format: 'soon' } } }, /q\.retryAfter\.format/],
    [{ q: { ...good, burst: 2 } }, /"burst"/],
    [{ 'a"b': good }, /a"b/],
    [{ kept: null, q: { refill: '1/s' } }, /q\.capacity/],
  ] as const) {
    t.throws(() => quotas.change(change as never), sentence);
    t.same(quotas.read(), shown);
  }
  quotas.change({ kept: null, q: { ...good, refill: '3/250ms' } });
  t.match(quotas.read(), { kept: undefined, q: { refill: '3/250ms' } });
  await emulator.reset();
  t.same(quotas.read(), {});
});
