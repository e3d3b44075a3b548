import t from 'tap';
import { operations } from '../../api/index.js';
import { scenarioFromHar } from '../../scenarios/from-har.js';
import { type Service, startService } from '../service.js';

/**
 * Sends requests, and records what a client sees of each response: status, code, rate-limit headers, and the length of
 * an archive.
 */
async function ask(service: Service): Promise<unknown[]> {
  const seen: unknown[] = [];
  const note = async (method: string, target: string, options: object = {}) => {
    try {
      const { status, headers, json, bytes } = await service.call(method, target, { repo: 'r', ...options });
      const length = target.includes('archive') ? bytes.length : undefined;
      seen.push([target, status, json?.code, headers['retry-after'], headers.ratelimit, length]);
    } catch {
      seen.push([target, 'broken']);
    }
  };
  for (let time = 0; time < 5; time++) await note('GET', '/api/v1/repo');
  for (let time = 0; time < 3; time++) await note('POST', '/api/v1/repos/archive', { json: {} });
  for (let time = 0; time < 3; time++) await note('GET', '/api/v1/repos/branches');
  await note('POST', '/api/v1/repos/grep', { json: { query: { pattern: 'hello' } } });
  return seen;
}

t.test('a recorded incident is replayed for the same requests', async (t) => {
  const start = async () => {
    const service = await startService({ clock: '2026-01-01T00:00:00Z' });
    t.teardown(() => service.emulator.close({ graceMs: 0 }));
    await service.seed('r');
    return service;
  };
  const [recorded, replayed, quiet] = [await start(), await start(), await start()];
  const { emulator } = recorded;
  emulator.fault({
    match: { op: 'getRepository' },
    when: { times: 1 },
    do: { error: { code: 'rate_limited', retryAfter: 9, t: 4 } },
  });
  emulator.fault({
    match: { op: 'getRepository' },
    when: { skip: 1, times: 1 },
    do: { unknownCode: { status: 503, code: 'brownout' } },
  });
  emulator.fault({ match: { op: 'archive' }, when: { skip: 1, times: 1 }, do: { cut: { at: { bytes: 40 } } } });
  emulator.state.change({ repositories: { r: { state: 'syncing', ends: { requests: 1 }, retryAfter: 3 } } });
  await recorded.call('DELETE', '/_emulator/requests', { token: null });
  const before = await ask(recorded);
  const har = await recorded.call('GET', '/_emulator/requests?format=har', { token: null });
  const { scenario } = scenarioFromHar(har.text, 'incident.har', operations);
  const added = await replayed.call('POST', '/_emulator/scenarios', {
    token: null,
    json: { ...scenario, start: true },
  });
  t.equal(added.status, 201, added.text);
  t.same(await ask(replayed), before);
  const shown = await replayed.call('GET', '/_emulator/scenarios/incident', { token: null });
  t.match(shown.json, { verification: { met: true } });
  t.notSame(await ask(quiet), before);
});
