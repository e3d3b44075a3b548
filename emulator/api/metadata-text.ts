import { type ByteString, textOf } from '../git/bytes.js';
import { readCommit } from '../git/commit.js';
import { formatDate } from '../git/identity.js';
import { type CacheGroup, type CacheRegion, costOfBuffer } from '../git/memory-cache.js';
import { numberOf, type ObjectReader, type Oid } from '../git/object.js';
import type { Meter } from '../git/schedule/meter.js';
import { formatMode, MODE_GITLINK, type PathEntry } from '../git/tree.js';
import { entryType } from './tree-listing.js';

/** Entries whose text is put together before it is encoded. */
const BATCH = 256;
const COMMA = Buffer.from(',');
const FILES = Buffer.from('{"files":[');
const COMMITS = Buffer.from('],"commits":{');
const END = Buffer.from('}');

export interface MetadataRequest {
  readonly objects: ObjectReader;
  /** Names the repository as long as the process lives, and no other one after it. */
  readonly repository: string;
  readonly files: Iterable<PathEntry>;
  readonly skip: number;
  readonly limit: number;
  /** The commit that touched a file last. */
  readonly touchedBy: (path: ByteString) => Oid;
  /** Throws where so many distinct commits are too many. */
  readonly allow: (commits: number) => void;
}

export interface MetadataPage {
  /** `{"files":[...],"commits":{...}`: the closing brace, and what comes before it, is the caller's. */
  readonly text: Buffer;
  readonly files: number;
  readonly hasMore: boolean;
}

/**
 * The JSON of file metadata, written in slices and kept as bytes. Objects never change, so neither does what is said
 * of a commit, or of all files of one.
 */
export class MetadataTexts {
  readonly #kept: CacheRegion<string, Buffer>;

  constructor(caches: CacheGroup) {
    this.#kept = caches.region(costOfBuffer);
  }

  /** The text kept under a key of the caller's, which starts with the repository's. */
  get(key: string): Buffer | undefined {
    return this.#kept.get(key);
  }

  keep(key: string, text: Buffer): void {
    this.#kept.set(key, text);
  }

  async write(request: MetadataRequest, meter: Meter): Promise<MetadataPage> {
    const { objects, touchedBy, limit } = request;
    const pieces: Buffer[] = [FILES];
    const commits = new Set<Oid>();
    let batch = '';
    let seen = 0;
    let files = 0;
    let hasMore = false;
    for (const file of request.files) {
      if (meter.isOver) await meter.pass();
      if (seen++ < request.skip) continue;
      if (files === limit) {
        hasMore = true;
        break;
      }
      const commit = touchedBy(file.path);
      commits.add(commit);
      batch += `${files === 0 ? '' : ','}${fileText(objects, file, commit)}`;
      files += 1;
      if (files % BATCH === 0) {
        pieces.push(Buffer.from(batch));
        batch = '';
      }
    }
    request.allow(commits.size);
    pieces.push(Buffer.from(batch), COMMITS);
    let isFirst = true;
    for (const commit of commits) {
      if (meter.isOver) await meter.pass();
      if (!isFirst) pieces.push(COMMA);
      isFirst = false;
      pieces.push(this.#summary(objects, request.repository, commit));
    }
    pieces.push(END);
    return { text: Buffer.concat(pieces), files, hasMore };
  }

  /** `"<id>":{"author":...,"date":...,"message":...}` */
  #summary(objects: ObjectReader, repository: string, commit: Oid): Buffer {
    const key = `${repository}/${commit}`;
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    const { author, message } = readCommit(objects, commit);
    const summary = { author: author.name, date: formatDate(author), message };
    const text = Buffer.from(`"${commit}":${JSON.stringify(summary)}`);
    this.#kept.set(key, text);
    return text;
  }
}

function fileText(objects: ObjectReader, { path, mode, oid }: PathEntry, commit: Oid): string {
  const size = mode === MODE_GITLINK ? 0 : objects.sizeOf(numberOf(objects, oid));
  const name = JSON.stringify(textOf(path));
  return `{"path":${name},"mode":"${formatMode(mode)}","size":${size},"last_commit_sha":"${commit}","type":"${entryType(mode)}"}`;
}
