import t from 'tap';
import { startService } from '../test/service.js';

t.test('repeated file metadata is identical while nothing changes, and current after a change', async (t) => {
  const service = await startService({ variants: { metadataPagination: 'on-request' } });
  t.teardown(() => service.emulator.close());
  const ask = async (query = '') => (await service.call('GET', `/api/v1/repos/files/metadata${query}`)).json;
  const first = await service.seed('team/app', { 'a/one.txt': '1', 'größe "x".txt': '22' });
  const before = await ask();
  t.same(await ask(), before);
  t.same(Object.keys(before.commits), [first]);
  t.same((await ask('?path=a')).files, [before.files[0]], 'one folder is no other one');
  t.equal((await ask(`?ref=${first}`)).ref, first, 'the name asked for is not part of what is kept');

  const { json } = await service.commit('team/app', { 'a/one.txt': '333', 'b.txt': '' });
  const second = json.commit.commit_sha;
  const after = await ask();
  t.same(
    after.files.map(({ path, size, last_commit_sha }: Record<string, unknown>) => [path, size, last_commit_sha]),
    [
      ['a/one.txt', 3, second],
      ['b.txt', 0, second],
      ['größe "x".txt', 2, first],
    ],
  );
  t.same(Object.keys(after.commits), [second, first]);
  t.same(await ask(`?ref=${first}`), { ...before, ref: first });

  let cursor = '';
  for (const file of after.files) {
    const page = await ask(`?limit=1${cursor}`);
    const { last_commit_sha: commit } = file;
    t.match(page, { files: [file], commits: { [commit]: after.commits[commit] } });
    t.same([page.files.length, Object.keys(page.commits).length], [1, 1]);
    cursor = `&cursor=${page.next_cursor}`;
  }
  t.equal(cursor, '&cursor=null');
});

t.test('a repository that reuses the name of a deleted one has its own file metadata', async (t) => {
  const service = await startService();
  t.teardown(() => service.emulator.close());
  const ask = async (ref: string) => service.call('GET', `/api/v1/repos/files/metadata?ref=${ref}`);
  const commit = await service.seed('team/app', { 'old.txt': 'old' });
  t.match((await ask(commit)).json.files, [{ path: 'old.txt' }]);
  t.equal((await service.call('DELETE', '/api/repos/team%2Fapp')).status, 200);
  await service.seed('team/app', { 'new.txt': 'new' });
  t.equal((await ask(commit)).status, 404);
  t.match((await ask('main')).json.files, [{ path: 'new.txt' }]);
});
