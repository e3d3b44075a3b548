import t from 'tap';
import { startService } from './service.js';

const REPOSITORIES = 120;
const CACHE_BYTES = 300_000;

t.test('what is kept to be fast stays within one budget, and goes with its repository', async (t) => {
  const service = await startService({ limits: { cacheBytes: CACHE_BYTES } });
  t.teardown(() => service.emulator.close());
  const { world } = service;
  const names = Array.from({ length: REPOSITORIES }, (_, at) => `team/app-${at}`);
  let most = 0;
  const within = (status: number) => {
    t.equal(status, 200);
    t.ok(world.engine.cachedBytes <= CACHE_BYTES, `${world.engine.cachedBytes} bytes`);
    most = Math.max(most, world.engine.cachedBytes);
  };
  for (const name of names) {
    await service.seed(name, { 'a.txt': `text of ${name}\n`.repeat(100), 'b.txt': 'word\n' });
    const options = { repo: name };
    const json = { query: { pattern: 'word', case_sensitive: true } };
    within((await service.call('POST', '/api/v1/repos/grep', { ...options, json })).status);
    within((await service.call('GET', '/api/v1/repos/blame?path=a.txt', options)).status);
    within((await service.call('GET', '/api/v1/repos/files/metadata', options)).status);
    within((await service.call('GET', `/${name}.git/info/refs?service=git-upload-pack`, options)).status);
  }
  t.ok(most > CACHE_BYTES / 2, `up to ${most} bytes were kept`);
  for (const name of names) {
    const { status } = await service.call('DELETE', `/api/repos/${encodeURIComponent(name)}`, { repo: name });
    t.equal(status, 200);
  }
  t.equal(world.engine.cachedBytes, 0);
});
