import { createCipheriv } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Oid, parseOid } from '../git/object/object.js';
import { initServerRepository } from './fixture.js';
import { git } from './native-git.js';

const MiB = 1024 * 1024;

/** One commit of `files` files of 1 MiB that do not compress, as a pack. */
export async function makeHeavyPack(folder: string, files: number): Promise<{ oid: Oid; pack: Buffer }> {
  const path = join(folder, 'heavy.git');
  await initServerRepository(path, 'main');
  const settings = ['-c', 'core.compression=0', '-c', 'fastimport.unpackLimit=0'];
  await git(path, [...settings, 'fast-import', '--quiet'], { input: heavyStream(files) });
  const oid = parseOid(await git(path, ['rev-parse', 'refs/heads/main']));
  const packs = await readdir(join(path, 'objects/pack'));
  const pack = await readFile(join(path, 'objects/pack', packs.find((name) => name.endsWith('.pack'))!));
  await rm(path, { recursive: true });
  return { oid, pack };
}

/** The content is the key stream of AES-CTR: the same in every run. */
function* heavyStream(files: number): Generator<string | Buffer> {
  const cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16, 7), Buffer.alloc(16));
  const zeros = Buffer.alloc(MiB);
  yield 'commit refs/heads/main\ncommitter Bench <bench@example.com> 1800000000 +0000\ndata 5\nheavy\n';
  for (let file = 0; file < files; file++) {
    yield `M 100644 inline file-${file}.bin\ndata ${MiB}\n`;
    yield cipher.update(zeros);
    yield '\n';
  }
}
