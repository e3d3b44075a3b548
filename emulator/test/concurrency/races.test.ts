import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { get, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { bytesOf } from '../../git/object/bytes.js';
import { parseOid, ZERO_OID } from '../../git/object/object.js';
import { packBody, type Service, startService } from '../service.js';

// Tests simultaneous requests that can change each other's results.

async function setUp(t: Test, files: Record<string, string | Buffer>): Promise<{ service: Service; tip: string }> {
  const service = await startService();
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  return { service, tip: await service.seed('team/app', files) };
}

t.test('of many concurrent notes on one commit exactly one is added', async (t) => {
  const { service, tip } = await setUp(t, { a: 'a' });
  const adds = Array.from({ length: 12 }, (_, n) =>
    service.call('POST', '/api/v1/repos/notes', { json: { sha: tip, note: `note ${n}` } }),
  );
  const statuses = (await Promise.all(adds)).map(({ status }) => status).sort();
  t.same(statuses, [201, ...Array.from({ length: 11 }, () => 409)]);
});

t.test('later pages are consistent with the first page during writes', async (t) => {
  const names = Array.from({ length: 6 }, (_, n) => `f${n}`);
  const { service } = await setUp(t, Object.fromEntries(names.map((name) => [name, 'word\n'])));
  await service.seed('other', Object.fromEntries(names.map((name) => [name, 'word\n'])));
  const change = (n: number) =>
    service.commit('team/app', Object.fromEntries([...names.map((name) => [name, null]), [`new${n}`, 'word\n']]));
  const lists: Record<string, (cursor: string | undefined, repo?: string) => ReturnType<Service['call']>> = {
    files: (cursor, repo = 'team/app') =>
      service.call('GET', `/api/v1/repos/files?limit=2${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`, {
        repo,
      }),
    grep: (cursor, repo = 'team/app') =>
      service.call('POST', '/api/v1/repos/grep', {
        repo,
        json: { query: { pattern: 'word' }, pagination: { limit: 2, ...(cursor && { cursor }) } },
      }),
  };
  const pathsOf = (json: { entries?: { path: string }[]; matches?: { path: string }[] }) =>
    (json.entries ?? json.matches)!.map(({ path }) => path);
  const first = Object.fromEntries(
    await Promise.all(Object.entries(lists).map(async ([name, list]) => [name, await list(undefined)])),
  );
  await change(1);
  for (const [name, list] of Object.entries(lists)) {
    const cursor: string = first[name].json.next_cursor;
    const seen = pathsOf(first[name].json);
    for (let next = cursor; next; ) {
      const page = await list(next);
      t.equal(page.status, 200, name);
      seen.push(...pathsOf(page.json));
      next = page.json.next_cursor;
    }
    t.same(seen, names, name);
    t.same(pathsOf((await list(undefined)).json), ['new1'], `${name}: and a first page shows what is`);
    t.equal((await list(cursor, 'other')).status, 400, `${name}: the cursor of another repository`);
    t.equal((await list(`${cursor}x`)).status, 400, `${name}: a changed cursor`);
    await change(1);
    await service.commit('team/app', Object.fromEntries([...names.map((each) => [each, 'word\n']), ['new1', null]]));
    first[name] = await list(undefined);
    await change(1);
  }
});

t.test('a deletion during requests: running reads finish, writes are refused', async (t) => {
  const large = randomBytes(4_000_000);
  const { service, tip } = await setUp(t, { large, more: randomBytes(4_000_000), most: randomBytes(4_000_000) });
  const token = await service.token({ repo: 'team/app' });
  const headers = { authorization: `Bearer ${token}` };
  const reading = get(`${service.url}/api/v1/repos/file?path=large`, { headers });
  const archiving = request(`${service.url}/api/v1/repos/archive`, { method: 'POST', headers });
  archiving.end('{}');
  const wants = `0011command=fetch00010032want ${tip}\n0009done\n0000`;
  const fetching = request(`${service.url}/team/app.git/git-upload-pack`, {
    method: 'POST',
    headers: { ...headers, 'git-protocol': 'version=2', 'content-type': 'application/x-git-upload-pack-request' },
  });
  fetching.end(wants);
  const writing = request(`${service.url}/api/v1/repos/commit-pack`, { method: 'POST', headers });
  const body = packBody({ more: 'more' });
  writing.write(body.slice(0, 100));
  const begun = await Promise.all(
    [reading, archiving, fetching].map(async (each) => (await once(each, 'response'))[0]),
  );
  t.equal((await service.call('DELETE', '/api/v1/repos/delete')).status < 300, true);
  const [file, archive, pack] = await Promise.all(begun.map((response) => buffer(response)));
  t.ok(file!.equals(large), 'the file is whole');
  t.ok(gunzipSync(archive!).includes(large.subarray(0, 1000)), 'the archive is whole');
  t.ok(pack!.length > 3 * large.length && pack!.subarray(-4).toString() === '0000', 'the pack is whole');
  const answered = once(writing, 'response');
  writing.end(body.slice(100));
  const [response] = await answered;
  const refusal = JSON.parse((await buffer(response)).toString());
  t.same([response.statusCode, refusal.code], [404, 'repository_not_found']);
  t.equal((await service.call('GET', '/api/v1/repo')).status, 404);
});

t.test('a write whose repository is deleted meanwhile has no effect', async (t) => {
  const { service, tip } = await setUp(t, { a: 'a' });
  const { world } = service;
  const repository = world.state.repositories.find(service.emulator.org, 'team/app')!;
  const writing = repository.git.transact(async (transaction) => {
    const blob = transaction.objects.write(3, Buffer.from('late'));
    transaction.update({ name: bytesOf('refs/tags/late'), old: ZERO_OID, new: blob });
    transaction.update({ name: bytesOf('refs/heads/late'), old: ZERO_OID, new: parseOid(tip) });
    await transaction.prepare();
    t.equal((await service.call('DELETE', '/api/v1/repos/delete')).status, 200);
  });
  await t.rejects(writing, { code: 'repository_not_found' });
  t.same([repository.record.state, repository.record.refs.size], ['deleted', 0]);
  t.equal(world.engine.memory.used, 0, 'and holds no memory');
});
