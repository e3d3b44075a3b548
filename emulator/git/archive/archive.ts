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
  /** Commit whose tree is written. The archive states its id, and all entries have its committer date. */
  readonly commit: Oid;
  /** Prefix of all paths in the archive, as returned by `parsePrefix`; undefined for no prefix. */
  readonly prefix?: ByteString | undefined;
  /** Selects the files to include; all files if undefined. */
  readonly selects?: PathMatcher | undefined;
  /** Maximum size in bytes of a file to include. Larger files are left out. */
  readonly maxBlobSize?: number | undefined;
  /** Compression level of gzip, 0 (none) to 9 (smallest result); default 6. */
  readonly level?: number | undefined;
}

/**
 * Writes the tree of a commit as `git archive --format=tar.gz` does. Entries are in the order of Git's index: each
 * folder comes before its content, and submodules are empty folders. Equal trees give equal tar bytes.
 *
 * Folders without a selected file are left out, so the archive is empty if nothing is selected. The attributes
 * `export-ignore` and `export-subst` are not applied.
 *
 * The CPU limit of the meter counts only work, not the time in which the archive waits for its reader. The generator
 * throws `MissingObject`, `WorkLimitExceeded` or the abort reason of the meter's signal. Ending the iteration early
 * releases all resources.
 */
export async function* writeArchive(
  objects: ObjectReader,
  options: ArchiveOptions,
): AsyncGenerator<Buffer, void, void> {
  const source = Readable.from(writeTar(objects, options), { objectMode: true, highWaterMark: 2 });
  const gzip = createGzip({ level: options.level ?? 6, chunkSize: 64 * 1024 });
  // The callback ignores errors of the streams; the loop below throws them.
  pipeline(source, gzip, () => undefined);
  let isFirst = true;
  for await (const chunk of gzip as AsyncIterable<Buffer>) {
    // Byte 9 of a gzip header names the operating system (RFC 1952). Git always writes 3 (Unix).
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
  // `written`: number of folders on the current path, counted from the root, whose entries have been written. The root
  // folder gets an entry only if there is a prefix. Without one, it counts as written.
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

/**
 * Yields the finished chunks of the writer. The meter, which counts the CPU work of a request, is suspended while the
 * client reads.
 */
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
