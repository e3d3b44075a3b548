import t from 'tap';
import { serveHistory } from './served-history.js';

// Tests notes in both directions: `git notes` must read notes of the emulator's API, and the API must read notes of
// `git notes`.

t.test('notes of every commit, through the fan-out', async (t) => {
  await using served = await serveHistory(21, 300);
  const { service, bench, git } = served;
  const commits = (await git('rev-list', 'main')).split('\n').slice(0, 280);
  t.ok(commits.length > 256 || (await git('rev-list', '--all', '--count')), 'enough for a fan-out');
  let tip: string | undefined;
  for (const [index, sha] of commits.entries()) {
    const expected = tip === undefined ? {} : { expected_ref_sha: tip };
    const written = await service.call('POST', '/api/v1/repos/notes', {
      json: { sha, note: `note ${index}`, ...expected },
    });
    if (written.status !== 201) return t.fail(written.text);
    if (written.json.base_commit !== (tip ?? '0'.repeat(40))) return t.fail('base_commit is not the notes ref before');
    tip = written.json.new_ref_sha;
  }
  const remote = await service.remote('team/app');
  await bench.git('work', 'fetch', '-q', remote, '+refs/notes/*:refs/notes/*');
  t.equal(await git('rev-parse', 'refs/notes/commits'), tip);
  await bench.git('work', 'fsck', '--strict', '--no-dangling');
  const listed = (await git('notes', 'list')).split('\n').map((line) => line.split(' ')[1]);
  t.same(listed.sort(), [...commits].sort());
  for (const index of [0, 1, 77, commits.length - 1]) {
    t.equal(await git('notes', 'show', commits[index]!), `note ${index}`);
  }
});

t.test('add, append and remove as git notes does them', async (t) => {
  await using served = await serveHistory(22, 6);
  const { service, bench, git } = served;
  const { call } = service;
  const remote = await service.remote('team/app');
  const [one, two, three] = (await git('rev-list', 'main')).split('\n') as [string, string, string];
  const send = (json: unknown, method = 'POST') => call(method, '/api/v1/repos/notes', { json });
  const read = async (sha: string) => (await call('GET', `/api/v1/repos/notes?sha=${sha}`)).json.note;

  await bench.git('work', 'notes', 'add', '-m', 'by git', one);
  await bench.git('work', 'push', '-q', remote, 'refs/notes/commits');
  t.equal(await read(one), 'by git\n');
  t.match(await send({ sha: one, note: 'again' }), { status: 409, json: { code: 'conflict' } });
  t.match(await send({ sha: one, note: 'more', action: 'append' }), {
    status: 201,
    json: { result: { success: true } },
  });
  await bench.git('work', 'notes', 'append', '-m', 'more', one);
  t.equal(await read(one), `${await git('notes', 'show', one)}`, 'the same blank line in between');

  t.match(await send({ sha: two, note: 'größe\n\n', action: 'append' }), { status: 201 }, 'append creates');
  t.equal(await read(two), 'größe\n\n', 'to the byte');
  t.match(await send({ sha: three, note: 'x', notes_ref: 'reviews' }), {
    status: 201,
    json: { target_ref: 'refs/notes/reviews', notes_ref: 'refs/notes/reviews' },
  });
  t.match(await call('GET', `/api/v1/repos/notes?sha=${three}`), { status: 404 });
  t.match(await call('GET', `/api/v1/repos/notes?sha=${three}&ref=notes/reviews`), {
    status: 200,
    json: { note: 'x' },
  });
  const refs = (await call('GET', '/api/v1/repos/notes/refs')).json.refs.map(({ ref }: { ref: string }) => ref);
  t.same(refs, ['refs/notes/commits', 'refs/notes/reviews']);

  t.match(await send({ sha: two }, 'DELETE'), { status: 200, json: { result: { success: true } } });
  t.match(await send({ sha: two }, 'DELETE'), { status: 404 });
  await bench.git('work', 'fetch', '-q', remote, '+refs/notes/*:refs/notes/*');
  await bench.git('work', 'fsck', '--strict', '--no-dangling');
  t.equal((await bench.try('work', 'notes', 'show', two)).status, 1);
  t.equal(await git('notes', '--ref=reviews', 'show', three), 'x');
});

t.test('what no note can be attached to, and two writers at once', async (t) => {
  await using served = await serveHistory(23, 4);
  const { service, git } = served;
  const send = (json: unknown) => service.call('POST', '/api/v1/repos/notes', { json });
  const tree = await git('rev-parse', 'main^{tree}');
  const rows: [unknown, number][] = [
    [{ sha: 'f'.repeat(40), note: 'x' }, 404],
    [{ sha: tree, note: 'x' }, 404],
    [{ sha: 'nothing', note: 'x' }, 404],
    [{ note: 'x' }, 400],
    [{ sha: 'main' }, 400],
    [{ sha: 'main', note: '' }, 400],
    [{ sha: 'main', note: 7 }, 400],
    [{ sha: 'main', note: 'x', action: 'replace' }, 400],
    [{ sha: 'main', note: 'x', expected_ref_sha: '0'.repeat(39) }, 400],
    [{ sha: 'main', note: 'x', expected_ref_sha: 'f'.repeat(40) }, 409],
    [{ sha: 'main', note: 'x', notes_ref: 'a..b' }, 400],
    [{ sha: 'main', note: 'x', author: { name: '<>', email: 'x' } }, 400],
  ];
  for (const [json, status] of rows) t.equal((await send(json)).status, status, JSON.stringify(json));
  t.same((await service.call('GET', '/api/v1/repos/notes/refs')).json.refs, [], 'nothing was written');
  const all = await Promise.all(Array.from({ length: 12 }, (_, n) => send({ sha: 'main', note: `${n}` })));
  t.same(all.map(({ status }) => status).sort(), [201, ...Array(11).fill(409)], 'exactly one wins');
  const winner = all.findIndex(({ status }) => status === 201);
  t.equal((await service.call('GET', '/api/v1/repos/notes?sha=main')).json.note, `${winner}`);
});
