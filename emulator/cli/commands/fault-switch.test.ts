import t from 'tap';
import { startAsked } from '../test/run.js';

t.test('a fault is disabled and enabled by commands, and its counters continue', async (t) => {
  const { emulator, ask } = await startAsked(t);
  const status = async () => (await fetch(`${emulator.baseUrl}/api/repos`)).status;
  await ask.text('fault', 'add', 'bad_gateway@headers');
  t.equal(await status(), 502);
  t.same(await ask.text('fault', 'disable', 'fault-1'), { code: 0, out: '', err: '' });
  t.match((await ask.text('fault', 'ls')).out, /\nfault-1 +registered +disabled +1 +1 /);
  t.equal(await status(), 401);
  t.match((await ask.json('fault', 'enable', 'fault-1')).json, { id: 'fault-1', enabled: true, fired: 1 });
  t.match((await ask.text('fault', 'ls')).out, /\nfault-1 +registered +enabled +1 +1 /);
  t.equal(await status(), 502);
  t.match(await ask.text('fault', 'disable', 'none'), { code: 2, err: /none/ });
  t.match(await ask.text('fault', 'enable'), { code: 2, err: /fault enable needs the id of a fault/ });
});

t.test('flags add conditions on the ref, the path and the message of a commit', async (t) => {
  const { ask } = await startAsked(t);
  const flags = ['--ref', 'refs/heads/main', '--path', 'docs/*', '--message', 'Fix; it, *'];
  t.match((await ask.json('fault', 'add', 'bad_gateway', '--op', 'commitPack', ...flags)).json, {
    match: { op: 'commitPack', git: { ref: 'refs/heads/main', path: 'docs/*', message: 'Fix; it, *' } },
  });
  t.match(await ask.text('fault', 'ls', '--path', 'a'), { code: 2, err: /fault ls takes none of .*--path/ });
});
