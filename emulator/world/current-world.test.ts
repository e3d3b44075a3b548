import t from 'tap';
import { KeyRing } from '../auth/keys.js';
import { BLOB } from '../git/object/object.js';
import { costOfBuffer } from '../memory/memory-cache.js';
import { CurrentWorld } from './current-world.js';

const organization = {
  name: 'demo',
  keys: new KeyRing([]),
  authenticationAvailable: true,
  hostingEnabled: true,
  forgeApps: 1,
};

t.test('a transaction that is open during a restore is aborted and blocks nobody', async (t) => {
  const current = new CurrentWorld({ organizations: [organization] });
  t.teardown(() => current.close());
  const find = () => current.world.state.repositories.find('demo', 'r')!;
  current.world.state.repositories.create('demo', 'r', { defaultBranch: 'main' });
  const id = current.snapshot();
  const before = find();
  let go = (): void => {};
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  const open = before.git.transact(async ({ objects }) => {
    objects.write(BLOB, Buffer.from('first'));
    await gate;
    return objects.write(BLOB, Buffer.from('second'));
  });
  const waiting = before.git.transact(({ objects }) => objects.write(BLOB, Buffer.from('third')));
  const refused = Promise.all(
    [open, waiting].map((write) => t.rejects(write, { code: 'service_unavailable', status: 503 })),
  );
  await new Promise(setImmediate);
  await current.restore(id);
  t.not(find(), before);
  await find().git.transact(({ objects }) => void objects.write(BLOB, Buffer.from('its own')));
  go();
  await refused;
  t.equal(find().git.objects.size, 0);
  t.equal(current.engine.memory.used, find().git.objects.heldBytes);
  t.throws(() => before.requireWritable(), { code: 'service_unavailable' });
});

t.test('cached responses that depend only on commits are kept across restores', async (t) => {
  const current = new CurrentWorld({ organizations: [organization] });
  t.teardown(() => current.close());
  const find = () => current.world.state.repositories.find('demo', 'r');
  const { content } = current.world.state.repositories.create('demo', 'r', { defaultBranch: 'main' });
  const kind = {};
  const responsesOf = ({ responses }: typeof content) =>
    responses.shared(kind, () => responses.region<string, Buffer>(costOfBuffer));
  responsesOf(content).set('key', Buffer.from('answer'));
  const id = current.snapshot();
  await current.restore(id);
  t.equal(responsesOf(find()!.content).get('key')?.toString(), 'answer');
  await current.reset();
  t.equal(find(), undefined);
  await current.restore(id);
  t.equal(responsesOf(find()!.content).get('key')?.toString(), 'answer');
  current.removeSnapshot(id);
  await current.reset();
  t.equal(current.engine.cachedBytes, 0);
});

t.test('a request of a replaced world still finds its repository, and holds no memory', async (t) => {
  const current = new CurrentWorld({ organizations: [organization] });
  t.teardown(() => current.close());
  const created = current.world.state.repositories.create('demo', 'r', { defaultBranch: 'main' });
  const writing = created.git.objects.quarantine();
  const oid = writing.write(BLOB, Buffer.from('text'));
  writing.publish();
  const id = current.snapshot();
  await current.restore(id);
  const before = current.world.state.repositories;
  await current.reset();
  const late = before.find('demo', 'r')!;
  t.equal(late.git.objects.read(late.git.objects.find(oid)).toString(), 'text');
  current.removeSnapshot(id);
  t.equal(current.engine.memory.used, 0);
});

t.test('worlds of one process share no state', async (t) => {
  const [one, other] = [1, 2].map(() => new CurrentWorld({ organizations: [organization] }));
  t.teardown(() => Promise.all([one!.close(), other!.close()]));
  one!.world.state.repositories.create('demo', 'r', { defaultBranch: 'main' });
  t.equal(other!.world.state.repositories.find('demo', 'r'), undefined);
  t.not(one!.engine.gitService, other!.engine.gitService);
  t.not(one!.engine.authenticator, other!.engine.authenticator);
  t.equal(one!.engine, one!.world.engine);
});

t.test('the number of snapshots is limited', async (t) => {
  const current = new CurrentWorld({ organizations: [] });
  t.teardown(() => current.close());
  for (let count = 1; count < 1_000; count++) current.snapshot();
  t.throws(() => current.snapshot(), /limit \(1000\)/);
  await t.rejects(current.restore('none'), /The snapshot "none" does not exist/);
  const [first] = current.snapshots();
  t.equal(current.snapshots().length, 999, 'that of the start is not shown');
  current.removeSnapshot(first!.id);
  t.throws(() => current.removeSnapshot(first!.id), /does not exist/);
  t.throws(() => current.removeSnapshot('initial'), /does not exist/, 'that of the start is not there to be removed');
  t.match(current.snapshot(), /^snapshot-/, 'there is room again');
  await current.reset();
});
