import t from 'tap';
import { startService } from '../service.js';

/**
 * Tests the member `ref` of responses. It must be the resolved ref, whatever the request says: the short name of a
 * branch or tag, otherwise the commit id.
 */

t.test('`ref` of a response is the resolved ref, not the text of the request', async (t) => {
  const service = await startService();
  t.teardown(() => service.emulator.close());
  const first = await service.seed('team/app', { 'a.txt': 'a\n' });
  const tip: string = (await service.commit('team/app', { 'a.txt': 'b\n' })).json.commit.commit_sha;
  await service.commit(
    'team/app',
    { 'a.txt': 'c\n' },
    { target_branch: 'draft', base_branch: 'main', ephemeral: true },
  );
  await service.call('POST', '/api/v1/repos/tags', { json: { name: 'v1', target: first } });
  const shown = async (ref: string, more = '') => {
    const query = `ref=${encodeURIComponent(ref)}${more}`;
    const metadata = await service.call('GET', `/api/v1/repos/files/metadata?${query}`);
    if (more === '') {
      const found = await service.call('POST', '/api/v1/repos/grep', { json: { ref, query: { pattern: '.' } } });
      t.equal(found.json.repo.ref, metadata.json.ref, `${ref}: search says the same`);
    }
    return metadata.json.ref;
  };
  for (const spelling of ['', 'main', 'heads/main', 'refs/heads/main', 'HEAD', '@'])
    t.equal(await shown(spelling), 'main');
  for (const spelling of ['v1', 'tags/v1', 'refs/tags/v1']) t.equal(await shown(spelling), 'v1');
  for (const spelling of [first, first.slice(0, 7), first.toUpperCase(), 'main~1', 'v1^0', `${tip}^`]) {
    t.equal(await shown(spelling), first, spelling);
  }
  for (const spelling of ['draft', 'refs/heads/draft']) t.equal(await shown(spelling, '&ephemeral=true'), 'draft');
});
