import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { Meter } from '../../schedule/meter.js';
import { runYielding } from '../../schedule/steps.js';
import { type ByteString, bytesIn, concatBytes, NO_BYTES, SLASH } from '../object/bytes.js';
import { readCommit } from '../object/commit.js';
import { BLOB, MissingObject, type ObjectReader, type Oid } from '../object/object.js';
import { MODE_EXECUTABLE, MODE_GITLINK, MODE_SYMLINK } from '../object/tree.js';
import type { PathMatcher } from '../pathspec/path-matcher.js';
import { TreeWalk } from '../pathspec/tree-walk.js';
import { TarWriter } from './tar.js';

export interface ArchiveOptions {
  readonly meter: Meter;
  /** Named in the archive; its committer date is the time of every entry. */
  readonly commit: Oid;
  /** Put before every path, as `parsePrefix` returns it. */
  readonly prefix?: ByteString | undefined;
  /** Which files are taken; all by default. */
  readonly selects?: PathMatcher | undefined;
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
  const { prefix = NO_BYTES, selects, maxBlobSize = Number.POSITIVE_INFINITY } = options;
  const { meter } = options;
  const tar = new TarWriter(options.commit, committer.seconds);
  const walk = new TreeWalk(objects, tree, { under: prefix, selects });
  // Of the folders on the way, which are outermost first, so many are written; the root has a name only by the prefix.
  const nameless = prefix === '' ? 1 : 0;
  let written = nameless;
  while (walk.step()) {
    meter.spend(walk.cost);
    if (meter.shouldYield) await meter.yieldToEventLoop();
    written = Math.max(nameless, Math.min(written, walk.depth + 1));
    if (!walk.isFound) continue;
    const number = walk.mode === MODE_GITLINK ? -1 : blobNumber(objects, walk.oid);
    if (number >= 0 && objects.sizeOf(number) > maxBlobSize) continue;
    for (; written <= walk.depth; written++) {
      tar.directory(walk.folder(written), walk.folderOid(written));
      meter.spend(tar.takeCost());
      if (meter.shouldYield) await meter.yieldToEventLoop();
      if (tar.isReady) yield* handOver(tar, meter);
    }
    const { path, mode, oid } = walk;
    if (number < 0) tar.directory(concatBytes(path, SLASH), oid);
    else {
      const body = await runYielding(objects.readSteps(number), meter);
      if (mode === MODE_SYMLINK) tar.symlink(path, oid, bytesIn(body));
      else tar.file(path, oid, mode === MODE_EXECUTABLE, body);
    }
    meter.spend(tar.takeCost());
    if (tar.isReady) yield* handOver(tar, meter);
  }
  tar.end();
  yield* handOver(tar, meter);
}

/** Yields what is ready. The meter stands still while the client reads. */
function* handOver(tar: TarWriter, meter: Meter): Generator<Buffer, void, void> {
  meter.suspend();
  yield* tar.take();
  meter.resume();
}

function blobNumber(objects: ObjectReader, oid: Oid): number {
  const number = objects.find(oid);
  if (number < 0 || objects.typeOf(number) !== BLOB) throw new MissingObject(oid, 'blob');
  return number;
}
