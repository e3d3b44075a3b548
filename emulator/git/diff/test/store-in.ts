import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { type ObjectReader, typeName } from '../../object.js';
import type { ScratchGit } from '../../test/scratch-git.js';

/** Writes every object to the repository as a loose one: no process for each, and nothing is checked. */
export function storeIn(git: ScratchGit, objects: ObjectReader, from = 0): void {
  for (let number = from; number < objects.size; number++) {
    const oid = objects.oidOf(number);
    const body = objects.read(number);
    const header = Buffer.from(`${typeName(objects.typeOf(number))} ${body.length}\0`);
    const folder = join(git.path, '.git', 'objects', oid.slice(0, 2));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, oid.slice(2)), deflateSync(Buffer.concat([header, body]), { level: 1 }));
  }
}
