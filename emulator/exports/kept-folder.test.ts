import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { BLOB } from '../git/object/object.js';
import { Refs } from '../git/refs/refs.js';
import { archiveOf, scratchWorld } from './open-state.js';
import { PAUSE } from './persistence.js';
import { importTree } from './read-state.js';
import { saveState } from './state-directory.js';
import { readTar } from './tar.js';
import { addRefs, commit, files, keep, organization, read, scratch, shown, written } from './test/kept.js';
import { writeWorld } from './write-state.js';

t.test('a save begins after one pause and writes only changes, however large the state is', async (t) => {
  const folder = join(scratch(t), 'kept');
  const { current, persistence, next, pauses, warnings } = await keep(t, folder);
  const branches = Array.from({ length: 1500 }, (_, at) => `refs/heads/branch-${at}`);
  for (const name of ['r0', 'r7']) await commit(current, name, { a: name });
  const { repositories } = current.world.state;
  for (let at = 0; at < 260; at++) repositories.create(organization, `empty-${at}`, { defaultBranch: 'main' });
  await addRefs(current, 'r0', branches);
  await next();
  let before = files(folder);
  await next();
  t.same(written(before, files(folder)), [], 'nothing has changed');
  await commit(current, 'r7', { a: 'other' });
  let read = 0;
  const { entries } = Refs.prototype;
  t.intercept(Refs.prototype, 'entries', {
    value(this: Refs, ...args: Parameters<typeof entries>) {
      read++;
      return entries.apply(this, args);
    },
    writable: true,
  });
  await next();
  t.ok(read <= 3, `refs were read ${read} times`);
  let changed = written(before, files(folder));
  const names = changed.map((path) => path.replaceAll(/[0-9a-f]{40}/g, 'ID').replace('scratch/r7.git/', '')).sort();
  t.same(
    names,
    [
      'emulator.json',
      'list-ID.json',
      'objects/pack/pack-ID.idx',
      'objects/pack/pack-ID.pack',
      'packed-refs',
      'record-ID.json',
    ],
    'of one repository of 262',
  );
  before = files(folder);
  await addRefs(current, 'r0', ['refs/heads/one-more']);
  await next();
  changed = written(before, files(folder));
  t.equal(changed.filter((path) => /r0\.git\/list-/.test(path)).length, 1, 'one file of some 12 with refs');
  t.ok(changed.length <= 4, changed.join());
  t.same(new Set(pauses), new Set([PAUSE]));
  t.ok(PAUSE <= 100, 'a save begins at most so long after a change');
  await persistence.close();
  t.match(
    readFileSync(join(folder, 'scratch/r0.git/packed-refs'), 'utf8'),
    /one-more/,
    'at the end also what Git reads',
  );
  t.same(warnings, []);
  const again = await keep(t, folder);
  t.same(shown(again.current), shown(current));
});

t.test('small packs are merged, and large packs are never rewritten', async (t) => {
  const folder = join(scratch(t), 'kept');
  const { current, persistence, next } = await keep(t, folder);
  const packs = () => [...files(folder)].filter(([path]) => path.endsWith('.pack'));
  await commit(current, 'r', {
    large: 'x'.repeat(10),
    ...Object.fromEntries(Array.from({ length: 1100 }, (_, at) => [`f${at}`, `${at}`])),
  });
  await next();
  const [large] = packs();
  for (let at = 0; at < 60; at++) {
    await commit(current, 'r', { a: `${at}` });
    await next();
  }
  t.same(
    packs().filter(([path]) => path === large![0]),
    [large],
  );
  t.ok(packs().length <= 8, `${packs().length} packs after 60 saves`);
  const state = await read(folder);
  await persistence.close();
  t.same(await read(folder), state);
});

t.test('content that was read from a folder is not written again', async (t) => {
  const folder = join(scratch(t), 'kept');
  const one = await keep(t, folder);
  for (const name of ['a', 'b']) await commit(one.current, name, { a: name });
  await addRefs(
    one.current,
    'a',
    Array.from({ length: 600 }, (_, at) => `refs/heads/b${at}`),
  );
  await one.persistence.close();
  const before = files(folder);
  const two = await keep(t, folder);
  t.notOk(two.isNew);
  t.same(written(before, files(folder)), ['emulator.json']);
  await commit(two.current, 'b', { a: 'more' });
  await two.next();
  t.same(
    written(before, files(folder)).filter((path) => path.includes('/a.git/')),
    [],
  );
  t.equal(
    [...files(folder).keys()].filter((path) => /b\.git.*pack$/.test(path)).length,
    1,
    'the small pack was joined',
  );
  await two.persistence.close();
  t.same(Object.keys(await read(folder)), ['a', 'b']);
});

t.test('an export of an earlier version, or one repacked by Git, is loaded', async (t) => {
  const folder = join(scratch(t), 'kept');
  const source = scratchWorld();
  t.teardown(() => source.close());
  await commit(source, 'a', { a: 'one' });
  await addRefs(
    source,
    'a',
    Array.from({ length: 600 }, (_, at) => `refs/heads/b${at}`),
  );
  await saveState(folder, writeWorld(source.world.snapshot(), source, false));
  t.match(readFileSync(join(folder, 'emulator.json'), 'utf8'), /"version": 1/);
  const before = files(folder);
  const state = await read(folder);
  const one = await keep(t, folder);
  t.same(written(before, files(folder)), ['emulator.json']);
  await one.persistence.close();
  t.same(await read(folder), state);
  for (const path of files(folder).keys()) if (path.endsWith('.idx')) rmSync(join(folder, path));
  const two = await keep(t, folder);
  t.ok(
    [...files(folder).keys()].some((path) => path.endsWith('.idx')),
    'an index that is absent is written',
  );
  await two.persistence.close();
  t.same(await read(folder), state);
});

t.test('a folder with lists in files of their own is imported, as a folder and as an archive', async (t) => {
  const folder = join(scratch(t), 'kept');
  const { current, persistence, next } = await keep(t, folder);
  await commit(current, 'a', { a: 'one' });
  await addRefs(
    current,
    'a',
    Array.from({ length: 600 }, (_, at) => `refs/heads/b${at}`),
  );
  await next();
  const [list] = [...files(folder).keys()].filter((path) => /a\.git\/list-/.test(path));
  t.ok(list);
  const readArchive = async () => {
    const tree = await readTar(await archiveOf(folder, {}), { title: 'The archive', take: () => {} });
    const other = scratchWorld();
    t.teardown(() => other.close());
    await importTree(other, tree, organization);
    return shown(other);
  };
  t.same(await readArchive(), shown(current));
  writeFileSync(join(folder, list!), readFileSync(join(folder, list!), 'utf8').replace('refs/heads/b', 'refs/heads/c'));
  await t.rejects(readArchive(), {
    message: /^The archive: the file scratch\/a\.git\/list-.* was changed after the export: its checksum/,
  });
  rmSync(join(folder, list!));
  await t.rejects(readArchive(), { message: /^The archive has no file scratch\/a\.git\/list-/ });
  await persistence.close();
});

t.test('the response to a write waits if a save is slow or much is unsaved', async (t) => {
  const folder = join(scratch(t), 'kept');
  const { current, persistence, time } = await keep(t, folder);
  const { resources } = current.engine;
  await commit(current, 'a', { a: 'small' });
  t.equal(resources.beforeAcknowledgement(), undefined, 'little is unsaved');
  const { git } = current.world.state.repositories.find(organization, 'a')!;
  const quarantine = git.objects.quarantine();
  quarantine.write(BLOB, Buffer.alloc(9 * 1024 * 1024, 'large'));
  quarantine.publish();
  await commit(current, 'a', { a: 'more' });
  const saved = resources.beforeAcknowledgement();
  t.ok(saved instanceof Promise, '9 MiB are unsaved');
  time.now += 200;
  await saved;
  t.same(await read(folder), shown(current));
  t.equal(resources.beforeAcknowledgement(), undefined);
  const slow = persistence.save();
  await Promise.resolve();
  await Promise.resolve();
  time.now += 301;
  t.ok(resources.beforeAcknowledgement() instanceof Promise, 'a save has run for 301 ms');
  await slow;
  await persistence.close();
});
