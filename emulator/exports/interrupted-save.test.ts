import { createHash } from 'node:crypto';
import { cpSync, existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { addRefs, commit, files, keep, organization, read, scratch, shown } from './test/kept.js';

t.test('a restored state shares its packs with the folder', async (t) => {
  const folder = join(scratch(t), 'kept');
  const { current, persistence, next } = await keep(t, folder);
  await commit(current, 'a', Object.fromEntries(Array.from({ length: 1200 }, (_, at) => [`f${at}`, `${at}`])));
  await next();
  const [pack] = [...files(folder)].filter(([path]) => path.endsWith('.pack'));
  const id = current.snapshot();
  const first = shown(current);
  await commit(current, 'a', { gone: 'gone' });
  await commit(current, 'b', { gone: 'b' });
  await next();
  await current.restore(id);
  await next();
  t.same(await read(folder), first);
  t.notOk(existsSync(join(folder, 'scratch/b.git')));
  // Commit after the restore, so that the numbers of the removed objects belong to other objects. The saved pack must
  // stay unchanged.
  await commit(current, 'a', { gone: 'other' });
  await next();
  t.same(
    [...files(folder)].filter(([path]) => path === pack![0]),
    [pack],
  );
  t.same(await read(folder), shown(current));
  await persistence.close();
});

t.test('a save interrupted at any byte leaves the previous or the new state', async (t) => {
  const scratchFolder = scratch(t);
  const folder = join(scratchFolder, 'kept');
  const { current, persistence, next } = await keep(t, folder);
  for (const name of ['a', 'b', 'gone']) await commit(current, name, { a: name });
  await addRefs(
    current,
    'a',
    Array.from({ length: 600 }, (_, at) => `refs/heads/b${at}`),
  );
  await next();
  const old = join(scratchFolder, 'old');
  cpSync(folder, old, { recursive: true });
  const before = await read(folder);
  await commit(current, 'a', { a: 'more' });
  await addRefs(current, 'a', ['refs/heads/one-more']);
  await commit(current, 'new', { a: 'new' });
  current.world.state.repositories.delete(current.world.state.repositories.find(organization, 'gone')!);
  await next();
  const after = await read(folder);
  t.notSame(after, before);
  const added = [...files(folder).keys()].filter((path) => !existsSync(join(old, path)) && path !== 'lock');
  const removed = [...files(old).keys()].filter((path) => !existsSync(join(folder, path)));
  t.ok(added.length > 5 && removed.length > 3);
  let draws = 0;
  const draw = (max: number) => createHash('sha256').update(`${draws++}`).digest().readUInt32BE(0) % max;
  for (let round = 0; round < 16; round++) {
    const torn = join(scratchFolder, 'torn');
    rmSync(torn, { recursive: true, force: true });
    const isDone = round % 2 === 1;
    cpSync(isDone ? folder : old, torn, { recursive: true });
    if (isDone) {
      // Simulate a crash after the manifest was replaced: some files that only the old manifest needs still exist.
      for (const path of removed) if (draw(2) === 0) cpSync(join(old, path), join(torn, path));
    } else {
      // Simulate a crash before the manifest was replaced. Only some files of the new manifest exist, some are
      // truncated, and the new manifest still has its draft name.
      for (const path of added) {
        if (draw(4) === 0) continue;
        cpSync(join(folder, path), join(torn, path));
        if (draw(2) === 0) truncateSync(join(torn, path), draw(statSync(join(torn, path)).size + 1));
      }
      const manifest = readFileSync(join(folder, 'emulator.json'));
      writeFileSync(join(torn, 'emulator.json.new'), manifest.subarray(0, draw(manifest.length + 1)));
    }
    writeFileSync(join(torn, 'lock'), '999999 1\n');
    const again = await keep(t, torn);
    t.same(await read(torn), isDone ? after : before, `round ${round}`);
    await again.persistence.close();
    const left = [...files(torn).keys()].sort();
    t.same(
      left,
      [...files(isDone ? folder : old).keys()].filter((path) => path !== 'lock').sort(),
      'nothing is left over',
    );
    t.same(await read(torn), isDone ? after : before, `round ${round}, saved again`);
  }
  await persistence.close();
});
