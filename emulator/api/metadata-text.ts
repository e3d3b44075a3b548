import { type ByteString, textOf } from '../git/object/bytes.js';
import { readCommit } from '../git/object/commit.js';
import { formatDate } from '../git/object/identity.js';
import { numberOf, type ObjectReader, type Oid } from '../git/object/object.js';
import { formatMode, MODE_GITLINK } from '../git/object/tree.js';
import { PathCursor, PathList } from '../git/pathspec/path-list.js';
import type { TreeWalk } from '../git/pathspec/tree-walk.js';
import { type CacheGroup, type CacheRegion, costOfBuffer } from '../memory/memory-cache.js';
import { COST } from '../schedule/cost.js';
import type { Meter } from '../schedule/meter.js';
import { inSlices } from '../schedule/steps.js';
import { entryType, walkPage } from './operations/tree-listing.js';

/** Characters that are put together before they are encoded. */
const PIECE = 64 * 1024;
const COMMA = Buffer.from(',');
const FILES = Buffer.from('{"files":[');
const COMMITS = Buffer.from('],"commits":{');
const END = Buffer.from('}');

export interface MetadataRequest {
  readonly objects: ObjectReader;
  /** Names the repository as long as the process lives, and no other one after it. */
  readonly repository: string;
  readonly files: TreeWalk;
  readonly skip: number;
  readonly limit: number;
  /** The commit that touched a file last. */
  readonly touchedBy: (path: ByteString) => Oid;
  /** Throws where so many distinct commits are too many. */
  readonly allow: (commits: number) => void;
}

export interface MetadataPage {
  /** `{"files":[...],"commits":{...}`: the closing brace, and what comes before it, is the caller's. */
  readonly text: AsyncIterable<Buffer>;
  readonly files: number;
  readonly hasMore: boolean;
}

/** What is known of the files of a page, by file; paths of a deep tree would be its square. */
interface ListedFiles {
  readonly paths: PathList;
  readonly modes: number[];
  /** Numbers of the blobs; -1 for a gitlink. */
  readonly objects: number[];
  /** Places in the list of commits. */
  readonly commits: number[];
}

/**
 * The JSON of file metadata, written in slices and kept as bytes. Objects never change, so neither does what is said
 * of a commit, or of all files of one.
 */
export class MetadataTexts {
  /** Texts of the same repository that were written before, by keys that start with the repository's. */
  readonly kept: CacheRegion<string, Buffer>;

  constructor(answers: CacheGroup) {
    this.kept = answers.region(costOfBuffer);
  }

  async write(request: MetadataRequest, meter: Meter): Promise<MetadataPage> {
    const { touchedBy, skip, limit, files: walk } = request;
    const files: ListedFiles = { paths: new PathList(), modes: [], objects: [], commits: [] };
    const commits = new Map<Oid, number>();
    const hasMore = await walkPage(walk, { skip, limit, meter }, ({ path, mode }) => {
      const commit = touchedBy(path);
      const place = commits.get(commit) ?? commits.size;
      commits.set(commit, place);
      files.paths.add(walk);
      files.modes.push(mode);
      files.objects.push(mode === MODE_GITLINK ? -1 : numberOf(request.objects, walk.oid));
      files.commits.push(place);
      meter.spend(path.length * COST.byteScanned);
    });
    request.allow(commits.size);
    return { text: this.#pieces(request, files, [...commits.keys()], meter), files: files.modes.length, hasMore };
  }

  async *#pieces(
    { objects, repository }: MetadataRequest,
    { paths, modes, objects: numbers, commits: places }: ListedFiles,
    commits: readonly Oid[],
    meter: Meter,
  ): AsyncGenerator<Buffer, void, void> {
    yield FILES;
    const cursor = new PathCursor(paths);
    let batch = '';
    for (const [file, mode] of modes.entries()) {
      if (cursor.tryMoveTo(file) === undefined) await inSlices(cursor.moveTo(file), meter);
      const number = numbers[file]!;
      const { path } = cursor;
      const size = number < 0 ? 0 : objects.sizeOf(number);
      batch += `${file === 0 ? '' : ','}${fileText(path, mode, size, commits[places[file]!]!)}`;
      meter.spend(path.length * COST.byteScanned);
      if (meter.isOver) await meter.pass();
      if (batch.length < PIECE) continue;
      yield Buffer.from(batch);
      batch = '';
    }
    yield Buffer.from(batch);
    yield COMMITS;
    const summaries: Buffer[] = [];
    let bytes = 0;
    for (const [at, commit] of commits.entries()) {
      if (meter.isOver) await meter.pass();
      const summary = this.#summary(objects, repository, commit);
      if (at > 0) summaries.push(COMMA);
      summaries.push(summary);
      bytes += summary.length;
      if (bytes < PIECE) continue;
      yield Buffer.concat(summaries.splice(0));
      bytes = 0;
    }
    yield Buffer.concat([...summaries, END]);
  }

  /** `"<id>":{"author":...,"date":...,"message":...}` */
  #summary(objects: ObjectReader, repository: string, commit: Oid): Buffer {
    const key = `${repository}/${commit}`;
    const known = this.kept.get(key);
    if (known !== undefined) return known;
    const { author, message } = readCommit(objects, commit);
    const summary = { author: author.name, date: formatDate(author), message };
    const text = Buffer.from(`"${commit}":${JSON.stringify(summary)}`);
    this.kept.set(key, text);
    return text;
  }
}

function fileText(path: ByteString, mode: number, size: number, commit: Oid): string {
  const name = JSON.stringify(textOf(path));
  return `{"path":${name},"mode":"${formatMode(mode)}","size":${size},"last_commit_sha":"${commit}","type":"${entryType(mode)}"}`;
}
