import t, { type Test } from 'tap';
import { Workbench } from '../../git/test/workbench.js';
import { type Service, type ServiceResponse, startService } from '../service.js';

const CLOCK = '2026-01-01T00:00:00Z';

async function start(t: Test, options: { adversarial: boolean; seed?: string }): Promise<Service> {
  const service = await startService({ clock: CLOCK, ...options });
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  return service;
}

/**
 * Removes unknown and optional members from a JSON value, and sorts the others. Two values can then be compared.
 */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([name, member]) => {
    const isOptional = (name === 'next_cursor' && member === null) || (name === 'type' && 'mode' in value);
    return !name.startsWith('x_unknown_') && !isOptional;
  });
  return Object.fromEntries(
    members.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => [name, plain(member)]),
  );
}

async function story(service: Service): Promise<ServiceResponse[]> {
  const responses: ServiceResponse[] = [];
  const ask = async (method: string, target: string, json?: object) => {
    const response = await service.call(method, target, { repo: 'r', ...(json && { json }) });
    responses.push(response);
    return response;
  };
  await service.seed('r', Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`d/f${n}.txt`, `text ${n}\n`])));
  for (let time = 0; time < 8; time++) {
    await ask('GET', '/api/v1/repo');
    await ask('GET', '/api/v1/repos/branches');
    await ask('GET', '/api/v1/repos/files/metadata');
    await ask('POST', '/api/v1/repos/grep', { query: { pattern: 'text' } });
    await ask('GET', '/api/v1/repos/branches/none');
    await ask('GET', '/nothing');
  }
  return responses;
}

t.test('adversarial responses differ in form only, and depend on the seed', async (t) => {
  const usual = await story(await start(t, { adversarial: false }));
  const first = await story(await start(t, { adversarial: true }));
  const again = await story(await start(t, { adversarial: true }));
  const other = await story(await start(t, { adversarial: true, seed: '2' }));
  const texts = (responses: readonly ServiceResponse[]) => responses.map(({ status, text }) => [status, text]);
  t.same(texts(again), texts(first));
  // Compare only error responses. Other responses contain ids, which differ anyway.
  const refusals = (responses: readonly ServiceResponse[]) => texts(responses.filter(({ status }) => status >= 400));
  t.notSame(refusals(other), refusals(first));
  for (const [at, response] of first.entries()) {
    t.same([response.status, plain(response.json)], [usual[at]!.status, plain(usual[at]!.json)], response.text);
    t.equal(response.headers['content-type'], usual[at]!.headers['content-type']);
  }
  const maps = first.flatMap(({ json }) => (json.commits === undefined ? [] : Object.keys(json.commits)));
  t.ok(maps.length > 0 && maps.every((sha) => /^[0-9a-f]{40}$/.test(sha)), 'what is a map by id stays one');
  const all = first.map(({ text }) => text).join();
  t.match(all, /x_unknown_\d+/);
  t.notMatch(usual.map(({ text }) => text).join(), /x_unknown/);
  const turned = first.filter(({ json }, at) => {
    const known = Object.keys(json).filter((name) => !name.startsWith('x_'));
    return known.join() !== Object.keys(usual[at]!.json).join();
  });
  t.ok(turned.length > 0 && turned.length < first.length, 'some have their members in another order');
  const chunked = first.filter(({ headers }) => headers['transfer-encoding'] === 'chunked');
  t.ok(chunked.length > usual.filter(({ headers }) => headers['transfer-encoding'] === 'chunked').length);
});

t.test('pages are smaller than requested, but never smaller than the default', async (t) => {
  const service = await start(t, { adversarial: true });
  const sha = await service.seed('r');
  for (let n = 0; n < 70; n++) {
    await service.call('POST', '/api/v1/repos/tags', { repo: 'r', json: { name: `t${n}`, target: sha } });
  }
  const page = async (query: string) => (await service.call('GET', `/api/v1/repos/tags${query}`, { repo: 'r' })).json;
  t.equal((await page('')).tags.length, 20);
  t.equal((await page('?limit=7')).tags.length, 7);
  t.equal((await page('?limit=20')).tags.length, 20);
  const sizes: number[] = [];
  let cursor = '';
  do {
    const { tags, next_cursor } = await page(`?limit=60${cursor}`);
    sizes.push(tags.length);
    cursor = next_cursor ? `&cursor=${encodeURIComponent(next_cursor)}` : '';
  } while (cursor !== '');
  t.equal(
    sizes.reduce((sum, size) => sum + size, 0),
    70,
  );
  t.ok(
    sizes.slice(0, -1).every((size) => size >= 20 && size <= 60),
    String(sizes),
  );
  t.ok(sizes[0]! < 60, `${sizes}: the first one is smaller`);
  const granted = new Set<number>();
  for (let time = 0; time < 12; time++) granted.add((await page('?limit=25')).tags.length);
  t.ok(granted.size > 1 && Math.min(...granted) >= 20, [...granted].join());
  t.match(await service.call('GET', '/api/v1/repos/tags?limit=x', { repo: 'r' }), { status: 400 });
});

t.test('Retry-After is larger than t, and waiting that long suffices; an injected fault is not changed', async (t) => {
  const service = await start(t, { adversarial: true });
  await service.seed('r');
  const read = (headers = {}) => service.call('GET', '/api/v1/repo', { repo: 'r', headers });
  const asked = await read({ 'x-emulator-fault': 'rate_limited;retry-after=3;t=5' });
  t.match(asked, { status: 429, headers: { 'retry-after': '3', ratelimit: /t=5/ } });
  service.emulator.quotas.change({ q: { capacity: 1, refill: '1/s' } });
  t.equal((await read()).status, 200);
  const refused = await read();
  const [, window] = /;t=(\d+)/.exec(refused.headers.ratelimit!)!;
  t.equal(refused.status, 429);
  t.ok(Number(refused.headers['retry-after']) > Number(window), `${refused.headers['retry-after']} after ${window}`);
  await service.emulator.clock.advance(Number(refused.headers['retry-after']) * 1000);
  t.equal((await read()).status, 200);
});

t.test('the code of a request without a credential is never replaced', async (t) => {
  const variants = { unknownRoute: '401' } as const;
  const service = await startService({ clock: CLOCK, adversarial: true, variants });
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  for (let time = 0; time < 8; time++) {
    const response = await service.call('GET', '/api/no-such-route', { token: null });
    t.match(response, { status: 401, json: { code: 'unauthorized' } });
  }
});

t.test('Git responses are not changed', async (t) => {
  const service = await start(t, { adversarial: true });
  await using bench = await Workbench.create();
  await service.seed('r');
  const url = await service.remote('r');
  await bench.git('.', 'clone', '-q', url, 'work');
  await bench.git('work', 'commit', '-q', '--allow-empty', '-m', 'next');
  await bench.git('work', 'push', '-q', 'origin', 'main');
  t.equal(
    (await bench.git('work', 'ls-remote', url, 'main')).split('\t')[0],
    (await bench.git('work', 'rev-parse', 'HEAD')).trim(),
  );
});
