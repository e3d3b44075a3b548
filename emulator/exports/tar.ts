import { ENTRY_TYPE, type EntryHeader, HeaderWriter, paxRecord, RECORD } from '../git/archive/tar-header.js';
import { type ByteString, bytesIn, bytesOf, sliceBytes } from '../git/object/bytes.js';
import { SourceError } from '../sources/file-tree.js';
import { MemoryTree } from '../sources/memory-tree.js';
import { isStatePath } from './file-names.js';
import { MAX_JSON } from './read-json.js';

/*
 * Reads and writes the subset of tar (POSIX pax, "ustar Interchange Format") that exports of the emulator's state need:
 * files and folders. Uses no library to read, because libraries tolerate errors, and an invalid archive from outside
 * must be refused.
 */
const MAX_ENTRIES = 1_000_000;
/**
 * Maximum length in bytes of a path in the header of a tar entry. A longer path goes into an extended header before it.
 */
const LONGEST_NAME = 100;
const MAX_EXTENSION = 64 * 1024;
/**
 * Matches files with Git objects, which may have any size. All other files of an export are parsed as a whole, and may
 * have at most `MAX_JSON` bytes.
 */
const OF_OBJECTS = /\.git\/objects\//;
/** Maximum size of an entry in bytes. The size field of a tar header has eleven octal digits. */
const MAX_SIZE = 8 ** 11 - 1;

/** File or folder of an export (saved state of the emulator), for writing to a tar archive or a folder. */
export interface TarEntry {
  /** Path in the export. The path of a folder ends with a slash. */
  readonly path: string;
  readonly size: number;
  content(): AsyncIterable<Uint8Array>;
}

/** Yields the bytes of a tar archive. Throws if the content of an entry does not have the declared size. */
export async function* writeTar(entries: AsyncIterable<TarEntry>): AsyncGenerator<Uint8Array> {
  for await (const { path, size, content } of entries) {
    const name = bytesOf(path);
    if (name.length > LONGEST_NAME) {
      const record = paxRecord('path', name);
      yield headerOf(bytesOf('pax'), record.length, ENTRY_TYPE.extendedHeader);
      yield padded(Buffer.from(record, 'latin1'));
    }
    const type = path.endsWith('/') ? ENTRY_TYPE.directory : ENTRY_TYPE.file;
    yield headerOf(sliceBytes(name, 0, LONGEST_NAME), size, type);
    let left = size;
    for await (const piece of content()) {
      left -= piece.length;
      if (left < 0) break;
      yield piece;
    }
    if (left !== 0) throw new Error(`the size of ${path} changed while it was read`);
    if (size % RECORD > 0) yield Buffer.alloc(RECORD - (size % RECORD));
  }
  yield Buffer.alloc(2 * RECORD);
}

/**
 * Writer of tar headers. All entries have the modification time 0, so that equal states give equal archives. Only the
 * owner can read them.
 */
const headers = new HeaderWriter(0);

function headerOf(name: ByteString, size: number, type: EntryHeader['type']): Buffer {
  const block = Buffer.alloc(RECORD);
  headers.write(block, 0, { type, mode: type === ENTRY_TYPE.directory ? 0o700 : 0o600, size, name });
  return block;
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((RECORD - (bytes.length % RECORD)) % RECORD)]);
}

export interface ReadTarOptions {
  readonly title: string;
  /** Reserves bytes of the memory that imports may use. Throws if the limit is exceeded. */
  readonly take?: (bytes: number) => void;
}

/**
 * Reads a tar archive with an export (saved state of the emulator) into memory. Skips files of up to 1 MiB that do not
 * belong to an export. Reserves no memory after an error.
 *
 * Throws `SourceError` for anything except files and folders. Also throws, already at the header, for a larger file
 * that does not belong to an export, and for a file without Git objects that exceeds `MAX_JSON` bytes.
 */
export async function readTar(pieces: AsyncIterable<Uint8Array>, options: ReadTarOptions): Promise<MemoryTree> {
  const tree = new MemoryTree(options.title);
  try {
    await readEntries(pieces, options, tree);
    return tree;
  } catch (error) {
    tree.free();
    throw error;
  }
}

/** Size in bytes of the memory blocks that store the contents of files. */
const BLOCK = 1024 * 1024;

async function readEntries(
  pieces: AsyncIterable<Uint8Array>,
  { title, take = () => {} }: ReadTarOptions,
  tree: MemoryTree,
): Promise<void> {
  const fail = (why: string) => new SourceError(`${title} ${why}.`);
  const reader = new TarReader(pieces, () => fail('ends early'));
  let entries = 0;
  let given: Buffer | undefined;
  for (;;) {
    const block = await reader.exactly(RECORD);
    if (isZero(block)) {
      if (!isZero(await reader.exactly(RECORD))) throw fail('is damaged: data follows the end of the archive');
      await reader.drain();
      return;
    }
    const { type, size, name } = readHeader(block, fail);
    if (type === 'x' || type === 'g' || type === 'L') {
      if (size > MAX_EXTENSION) throw fail(`has an extended header of more than ${MAX_EXTENSION} bytes`);
      const body = await reader.exactly(size);
      await reader.exactly((RECORD - (size % RECORD)) % RECORD);
      if (type === 'L') given = body.subarray(0, body.indexOf(0) < 0 ? body.length : body.indexOf(0));
      else if (type === 'x') given = readPax(body, fail);
      continue;
    }
    const path = readPath(given ?? name, fail);
    given = undefined;
    if (++entries > MAX_ENTRIES) throw fail(`has more than ${MAX_ENTRIES} entries`);
    take(RECORD);
    if (type === '5') {
      if (size !== 0) throw fail('has a folder entry with content');
      if (path !== '') tree.addFolder(path);
    } else if (type === '0' || type === '\0' || type === '7') {
      const padding = (RECORD - (size % RECORD)) % RECORD;
      if (path === '' || bytesIn(name).endsWith('/')) throw fail('has a file without a name');
      if (!isStatePath(path)) {
        if (size > BLOCK) throw fail(`has the file ${JSON.stringify(path)}, which is not part of an export`);
        await reader.exactly(size + padding);
        continue;
      }
      if (size > MAX_JSON && !OF_OBJECTS.test(path)) throw fail(`has a file of more than ${MAX_JSON} bytes: ${path}`);
      take(size);
      // Adds the blocks to the tree before reading them, so that `tree.free` frees all of them after a failure.
      const content: Buffer[] = [];
      tree.add(path, content);
      for (let left = size; left > 0; left -= BLOCK) content.push(await reader.block(Math.min(left, BLOCK)));
      await reader.exactly(padding);
    } else throw fail(`has an entry that is neither a file nor a folder: ${JSON.stringify(String(path))}`);
  }
}

function isZero(block: Buffer): boolean {
  return block.every((byte) => byte === 0);
}

function readHeader(block: Buffer, fail: (why: string) => SourceError): { type: string; size: number; name: Buffer } {
  const octal = (at: number, length: number): number => {
    const digits = /^ *([0-7]+)[ \0]*$/.exec(block.toString('latin1', at, at + length))?.[1];
    const value = digits === undefined ? Number.NaN : Number.parseInt(digits, 8);
    if (!(value <= MAX_SIZE)) throw fail('has a header in which a number is invalid');
    return value;
  };
  let sum = 0;
  for (let at = 0; at < RECORD; at++) sum += at >= 148 && at < 156 ? 0x20 : block[at]!;
  if (!/^ustar/.test(block.toString('latin1', 257, 262)) || octal(148, 8) !== sum)
    throw fail('is not a tar archive, or is damaged');
  const field = (at: number, length: number): Buffer => {
    const bytes = block.subarray(at, at + length);
    const end = bytes.indexOf(0);
    return Buffer.from(end < 0 ? bytes : bytes.subarray(0, end));
  };
  // Reads the prefix field (first part of a long path) only from POSIX headers. GNU tar has other fields at this
  // position.
  const prefix = block[262] === 0 ? field(345, 155) : Buffer.alloc(0);
  const name = field(0, 100);
  return {
    type: String.fromCharCode(block[156]!),
    size: octal(124, 12),
    name: prefix.length === 0 ? name : Buffer.concat([prefix, Buffer.from('/'), name]),
  };
}

/**
 * Parses the records of an extended header, `<length> <key>=<value> LF`. Returns the path of the next entry; undefined
 * if there is none. Throws for records that would change the entry's size or type.
 */
function readPax(body: Buffer, fail: (why: string) => SourceError): Buffer | undefined {
  let path: Buffer | undefined;
  for (let at = 0; at < body.length; ) {
    const length = Number(/^\d+(?= )/.exec(body.toString('latin1', at, at + 12))?.[0] ?? Number.NaN);
    const record = body.subarray(at, at + length);
    const space = record.indexOf(0x20);
    const equals = record.indexOf(0x3d);
    if (!(length > 0) || record.length !== length || record.at(-1) !== 0x0a || equals < space)
      throw fail('has a malformed extended header');
    const key = record.toString('latin1', space + 1, equals);
    if (key === 'path') path = record.subarray(equals + 1, -1);
    else if (key === 'size' || key === 'linkpath' || key.startsWith('GNU.sparse'))
      throw fail(`has an unsupported extended header: ${key}`);
    at += length;
  }
  return path;
}

function readPath(name: Buffer, fail: (why: string) => SourceError): ByteString {
  const path = bytesIn(name)
    .replace(/^(?:\.\/)+/, '')
    .replace(/\/$/, '');
  if (path === '.' || path === '') return bytesOf('');
  if (path.startsWith('/') || /[\\\0]/.test(path) || path.split('/').some((part) => ['', '.', '..'].includes(part))) {
    throw fail(`has a path that leads outside of the archive: ${JSON.stringify(path)}`);
  }
  return path as ByteString;
}

/** Reads exact numbers of bytes from the stream of a tar archive. */
class TarReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #piece: Buffer = Buffer.alloc(0);

  constructor(
    pieces: AsyncIterable<Uint8Array>,
    private readonly ended: () => SourceError,
  ) {
    this.#source = pieces[Symbol.asyncIterator]();
  }

  async exactly(count: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for await (const part of this.pieces(count)) parts.push(part);
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  }

  /**
   * Reads `count` bytes into a new buffer. Unlike `exactly`, always copies them: a part of a piece would keep the whole
   * piece in memory.
   */
  async block(count: number): Promise<Buffer> {
    const block = Buffer.allocUnsafeSlow(count);
    let at = 0;
    for await (const piece of this.pieces(count)) at += piece.copy(block, at);
    return block;
  }

  async *pieces(count: number): AsyncGenerator<Buffer> {
    for (let left = count; left > 0; ) {
      if (this.#piece.length === 0) {
        const { value, done } = await this.#source.next();
        if (done) throw this.ended();
        this.#piece = Buffer.from(value.buffer, value.byteOffset, value.length);
      }
      const part = this.#piece.subarray(0, left);
      this.#piece = this.#piece.subarray(part.length);
      left -= part.length;
      yield part;
    }
  }

  async drain(): Promise<void> {
    while (!(await this.#source.next()).done);
  }
}
