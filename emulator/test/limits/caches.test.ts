import t, { type Test } from 'tap';
import { type Service, startService } from '../service.js';

const REPOSITORIES = 120;
const CACHE_BYTES = 300_000;

t.test('all caches share one limit, and entries are removed with their repository', async (t) => {
  const service = await startService({ limits: { cacheBytes: CACHE_BYTES } });
  t.teardown(() => service.emulator.close());
  const { world } = service;
  const names = Array.from({ length: REPOSITORIES }, (_, at) => `team/app-${at}`);
  let max = 0;
  const within = (status: number) => {
    t.equal(status, 200);
    t.ok(world.engine.cachedBytes <= CACHE_BYTES, `${world.engine.cachedBytes} bytes`);
    max = Math.max(max, world.engine.cachedBytes);
  };
  for (const name of names) {
    await service.seed(name, { 'a.txt': `text of ${name}\n`.repeat(100), 'b.txt': 'word\n' });
    const options = { repo: name };
    const json = { query: { pattern: 'word', case_sensitive: true } };
    within((await service.call('POST', '/api/v1/repos/grep', { ...options, json })).status);
    within((await service.call('GET', '/api/v1/repos/blame?path=a.txt', options)).status);
    within((await service.call('GET', '/api/v1/repos/files/metadata', options)).status);
    within((await service.call('GET', '/api/v1/repos/diff?ref=main', options)).status);
    within((await service.call('GET', `/${name}.git/info/refs?service=git-upload-pack`, options)).status);
  }
  t.ok(max > CACHE_BYTES / 2, `up to ${max} bytes were kept`);
  for (const name of names) {
    const { status } = await service.call('DELETE', `/api/repos/${encodeURIComponent(name)}`, { repo: name });
    t.equal(status, 200);
  }
  t.equal(world.engine.cachedBytes, 0);
});

t.test('repeated diffs with different options are cached separately', async (t) => {
  const service = await startService();
  t.teardown(() => service.emulator.close());
  const text = Array.from({ length: 400 }, (_, line) => `line ${line}\n`);
  await service.seed('app', { 'a.txt': text.join(''), 'b.txt': 'one  two\n', 'blob.bin': Buffer.from([0, 1]) });
  text[200] = 'changed\n';
  await service.commit('app', { 'a.txt': text.join(''), 'b.txt': 'one two', 'blob.bin': Buffer.from([0, 2]) });
  await service.commit('app', { 'a.txt': null, 'c/a.txt': text.join('') });
  const queries = ['main', 'main~1'].flatMap((ref) =>
    ['', '&path=a.txt', '&path=b.txt', '&path=c'].flatMap((path) =>
      ['', '&git_apply_compatible=true'].map((applies) => `/api/v1/repos/diff?ref=${ref}${path}${applies}`),
    ),
  );
  const first = new Map<string, string>();
  for (const query of queries) first.set(query, (await ask(t, service, query)).text);
  t.ok(new Set(first.values()).size > 8, 'not all are alike');
  for (const query of queries.toReversed()) {
    const { text, units } = await ask(t, service, query);
    t.equal(text, first.get(query), query);
    t.ok(units < 8, `${units} units`);
  }
});

async function ask(t: Test, { world, call }: Service, query: string): Promise<{ text: string; units: number }> {
  const { schedule } = world.engine;
  const before = schedule.spent;
  const { status, text } = await call('GET', query, { repo: 'app' });
  t.equal(status, 200, query);
  return { text, units: schedule.spent - before };
}
