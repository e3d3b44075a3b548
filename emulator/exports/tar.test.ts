import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { RECORD } from '../git/archive/tar-header.js';
import { bytesOf } from '../git/object/bytes.js';
import { readTar, type TarEntry, writeTar } from './tar.js';

const MiB = 1024 * 1024;
const PACK = `demo/r.git/objects/pack/pack-${'a'.repeat(40)}.pack`;

/** Yields a tar archive with files of the given sizes. Calls `read` with the size of each piece, in bytes. */
async function* archiveOf(sizes: Readonly<Record<string, number>>, read = (_: number): void => {}) {
  const entries = async function* (): AsyncGenerator<TarEntry> {
    for (const [path, size] of Object.entries(sizes)) {
      yield {
        path,
        size,
        async *content() {
          for (let left = size; left > 0; left -= MiB) yield Buffer.alloc(Math.min(left, MiB), 'x');
        },
      };
    }
  };
  for await (const piece of writeTar(entries())) {
    read(piece.length);
    yield piece;
  }
}

const options = (take = (_: number): void => {}) => ({ title: 'The archive', take });

t.test('a large file that is not part of an export is refused at its header, and a small one is skipped', async (t) => {
  let read = 0;
  let taken = 0;
  const archive = archiveOf({ 'demo/big.bin': 64 * MiB, 'emulator.json': 10 }, (bytes) => {
    read += bytes;
  });
  const refused = readTar(
    archive,
    options((bytes) => {
      taken += bytes;
    }),
  );
  await t.rejects(refused, { message: 'The archive has the file "demo/big.bin", which is not part of an export.' });
  t.same([read, taken], [RECORD, RECORD], 'none of it was read or held');
  const tree = await readTar(archiveOf({ 'notes.txt': 1000, 'emulator.json': 10, [PACK]: 3 * MiB + 5 }), options());
  t.equal(await tree.stat(bytesOf('notes.txt')), undefined);
  t.equal((await tree.stat(bytesOf(PACK)))?.size, 3 * MiB + 5);
});

t.test('a file that is too large to be read is refused at its header, unless objects are in it', async (t) => {
  const size = 256 * MiB + 1;
  for (const path of ['emulator.json', 'demo/r.git/repository.json', 'demo/r.git/packed-refs']) {
    let read = 0;
    let taken = 0;
    const archive = archiveOf({ [path]: size }, (bytes) => {
      read += bytes;
    });
    const refused = readTar(
      archive,
      options((bytes) => {
        taken += bytes;
      }),
    );
    await t.rejects(refused, { message: `The archive has a file of more than ${256 * MiB} bytes: ${path}.` });
    t.same([read, taken], [RECORD, RECORD], `none of ${path} was read or held`);
  }
  const take = (bytes: number) => {
    if (bytes === size) throw new Error('room was asked for');
  };
  await t.rejects(readTar(archiveOf({ [PACK]: size }), options(take)), { message: 'room was asked for' });
});

t.test('memory for a file is reserved before it is read', async (t) => {
  let read = 0;
  const archive = archiveOf({ [PACK]: 64 * MiB }, (bytes) => {
    read += bytes;
  });
  const take = (bytes: number) => {
    if (bytes > MiB) throw new Error('full');
  };
  await t.rejects(readTar(archive, options(take)), { message: 'full' });
  t.equal(read, RECORD);
});

t.test('the memory of a refused archive is released immediately', async (t) => {
  const held = (): number => process.memoryUsage().arrayBuffers / MiB;
  const before = held();
  let max = 0;
  const archive = archiveOf({ [PACK]: 64 * MiB, 'demo/r.git/link': 2 }, () => {
    max = Math.max(max, held() - before);
  });
  const damaged = async function* () {
    let read = 0;
    for await (const piece of archive) {
      read += piece.length;
      if (read <= 64 * MiB + RECORD) yield piece;
    }
  };
  await t.rejects(readTar(damaged(), options()), { message: 'The archive ends early.' });
  t.ok(max > 60, `${max} MiB were held`);
  // Wait until the garbage collector has freed dropped buffers. File contents are freed without the garbage collector.
  for (let turn = 0; turn < 1000 && held() - before > 24; turn++) await setImmediate();
  t.ok(held() - before < 24, `${held() - before} MiB are held`);
  const tree = await readTar(archiveOf({ [PACK]: 64 * MiB }), options());
  const content = tree.read(bytesOf(PACK));
  const { value } = await content.next();
  t.equal(value!.length, MiB);
  tree.free();
  t.equal(value!.length, 0);
  t.equal(await tree.stat(bytesOf(PACK)), undefined);
});
