import t from 'tap';
import { packBody, startService } from '../service.js';

const AUTHOR = { name: 'Ada', email: 'ada@example.com' };

t.test('a policy of signed commits refuses every write that would make an unsigned one', async (t) => {
  const service = await startService();
  t.teardown(() => service.emulator.close());
  const sha = await service.seed('team/app');
  await service.commit('team/app', { 'a.txt': 'a\n' });
  const token = await service.token({ repo: 'team/app', claims: { refs: [['*', ['verify-sig']]] } });
  const send = (target: string, options: Record<string, unknown>) =>
    service.call('POST', target, { token, ...options });
  const metadata = { target_branch: 'main', target_commit_sha: sha, author: AUTHOR };
  const refused = [
    await send('/api/v1/repos/commit-pack', { body: packBody({ 'b.txt': 'b\n' }) }),
    await send('/api/v1/repos/restore-commit', { json: { metadata } }),
    await send('/api/v1/repos/notes', { json: { sha, note: 'x' } }),
  ];
  for (const response of refused) t.match(response, { status: 403, json: { code: 'forbidden', detail: /verify-sig/ } });

  const branch = { target_branch: 'dev', base_ref: 'main' };
  t.equal((await send('/api/v1/repos/branches/create', { json: branch })).status, 200, 'a branch is no commit');
  await service.commit('team/app', { 'c.txt': 'c\n' }, { target_branch: 'dev' });
  const merge = { source_branch: 'dev', target_branch: 'main', commit_message: 'Merge', author: AUTHOR };
  t.match(await send('/api/v1/repos/merge', { json: { ...merge, strategy: 'merge' } }), { status: 403 });
  t.match(await send('/api/v1/repos/merge', { json: { ...merge, strategy: 'ff_prefer' } }), {
    status: 200,
    json: { result: 'fast_forward' },
  });
});

t.test('force is what loses commits, by push and by API alike', async (t) => {
  const service = await startService();
  t.teardown(() => service.emulator.close());
  const first = await service.seed('team/app');
  await service.commit('team/app', { 'a.txt': 'a' });
  await service.commit('team/app', { 'b.txt': 'b' }, { target_branch: 'dev', base_branch: 'main' });
  const token = await service.token({ repo: 'team/app', claims: { refs: [['*', ['no-force-push']]] } });
  const create = (target_branch: string, base_ref: string, force?: boolean) =>
    service.call('POST', '/api/v1/repos/branches/create', { token, json: { target_branch, base_ref, force } });
  t.equal((await create('new', 'main', true)).status, 200, 'a branch that was not there');
  t.equal((await create('new', 'main', true)).status, 200, 'where it is already');
  t.equal((await create('new', 'dev', true)).status, 200, 'forwards');
  t.equal((await create('new', 'main')).status, 409, 'without force it stays where it is');
  const back = await create('new', first, true);
  t.match(back, { status: 403, json: { code: 'forbidden', detail: /no-force-push/ } }, 'backwards');
  const branch = await service.call('GET', '/api/v1/repos/branch?name=new');
  const dev = await service.call('GET', '/api/v1/repos/branch?name=dev');
  t.equal(branch.json.branch.head_sha, dev.json.branch.head_sha, 'and nothing moved');
});
