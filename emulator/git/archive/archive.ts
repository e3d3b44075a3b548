import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { ByteString } from '../bytes.js';
import { readCommit } from '../commit.js';
import { BLOB, MissingObject, type ObjectReader, type Oid } from '../object.js';
import type { Meter } from '../schedule/meter.js';
import { MODE_EXECUTABLE, MODE_GITLINK, MODE_SYMLINK, MODE_TREE, walkTree } from '../tree.js';
import { TarWriter } from './tar.js';

export interface ArchiveOptions {
  readonly meter: Meter;
  /** Named in the archive; its committer date is the time of every entry. */
  readonly commit: Oid;
  /** Put before every path, as `parsePrefix` returns it. */
  readonly prefix?: ByteString | undefined;
  /** Which paths are taken; all by default. */
  readonly selects?: ((path: ByteString) => boolean) | undefined;
  /** Bytes; files whose blob is larger are left out. */
  readonly maxBlobSize?: number | undefined;
  /** 0 to 9, as zlib counts; 6 by default. */
  readonly level?: number | undefined;
}

/**
 * The tree of a commit as `git archive --format=tar.gz` packs it: entries in index order, every folder
 * before what it holds, gitlinks as empty folders. The same tree gives the same tar. Folders without a
 * selected file are not written, so where nothing is selected the archive is empty. Attributes
 * (`export-ignore`, `export-subst`) are not read.
 *
 * The deadline is one for the work: while the archive waits to be taken, its clock stands still.
 * The loop throws `MissingObject`, `WorkLimitExceeded` or the signal's reason; leaving it early frees everything.
 */
export async function* writeArchive(
  objects: ObjectReader,
  options: ArchiveOptions,
): AsyncGenerator<Buffer, void, void> {
  const source = Readable.from(writeTar(objects, options), { objectMode: true, highWaterMark: 2 });
  const gzip = createGzip({ level: options.level ?? 6, chunkSize: 64 * 1024 });
  // Errors of either side surface in the loop below.
  pipeline(source, gzip, () => undefined);
  let isFirst = true;
  for await (const chunk of gzip as AsyncIterable<Buffer>) {
    // Byte 9 of a gzip header names the system it was made on (RFC 1952); 3 is what Git says, everywhere.
    if (isFirst) chunk[9] = 3;
    isFirst = false;
    yield chunk;
  }
}

async function* writeTar(objects: ObjectReader, options: ArchiveOptions): AsyncGenerator<Buffer, void, void> {
  const { tree, committer } = readCommit(objects, options.commit);
  const { prefix = '', selects, maxBlobSize = Number.POSITIVE_INFINITY } = options;
  const { meter } = options;
  const tar = new TarWriter(committer.seconds);
  tar.comment(options.commit);
  // Folders on the way to the current entry that are not written yet, outermost first.
  let pending: { path: ByteString; oid: Oid }[] = prefix === '' ? [] : [{ path: prefix, oid: tree }];
  for (const entry of walkTree(objects, tree, { trees: true })) {
    if (meter.isOver) await meter.pass();
    const path = prefix + entry.path;
    while (pending.length > 0 && !path.startsWith(pending.at(-1)!.path)) pending.pop();
    if (entry.mode === MODE_TREE) {
      pending.push({ path: `${path}/`, oid: entry.oid });
      continue;
    }
    if (selects !== undefined && !selects(entry.path)) continue;
    const number = entry.mode === MODE_GITLINK ? -1 : blobNumber(objects, entry.oid);
    if (number >= 0 && objects.sizeOf(number) > maxBlobSize) continue;
    for (const folder of pending) tar.directory(folder.path, folder.oid);
    pending = [];
    if (number < 0) tar.directory(`${path}/`, entry.oid);
    else {
      const body = await objects.readInSlices(number, meter);
      if (entry.mode === MODE_SYMLINK) tar.symlink(path, entry.oid, body.toString('latin1'));
      else tar.file(path, entry.oid, entry.mode === MODE_EXECUTABLE, body);
    }
    meter.suspend();
    yield* tar.take();
    meter.resume();
  }
  tar.end();
  yield* tar.take();
}

function blobNumber(objects: ObjectReader, oid: Oid): number {
  const number = objects.find(oid);
  if (number < 0 || objects.typeOf(number) !== BLOB) throw new MissingObject(oid, 'blob');
  return number;
}
