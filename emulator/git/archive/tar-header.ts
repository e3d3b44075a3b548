import { type ByteString, bytesOf, concatBytes, NO_BYTES } from '../object/bytes.js';

/** Size in bytes of a tar record. A header is one record, and content is padded to whole records. */
export const RECORD = 512;

const MAX_MTIME = 0o77777777777;

/** Line feed as a byte string (one character per byte). It ends a pax record (`<length> <key>=<value>`). */
const LINE_FEED = bytesOf('\n');

/** Values of the header field `typeflag`, the type of an entry (POSIX pax, "ustar Interchange Format"). */
export const ENTRY_TYPE = { file: '0', symlink: '2', directory: '5', globalHeader: 'g', extendedHeader: 'x' } as const;

export interface EntryHeader {
  readonly type: (typeof ENTRY_TYPE)[keyof typeof ENTRY_TYPE];
  readonly mode: number;
  readonly size: number;
  /** Whole path of the entry, or only the part after `prefix` if that is set. At most 100 bytes. */
  readonly name: ByteString;
  /** Folders before `name`, without the slash between them. At most 155 bytes. */
  readonly prefix?: ByteString;
  /** Target of a symbolic link. At most 100 bytes. */
  readonly link?: ByteString;
}

/**
 * Writer of tar headers. All entries belong to root and have the same time.
 *
 * Fields of a ustar header with their sizes in bytes (POSIX pax, "ustar Interchange Format"): name 100, mode 8, uid 8,
 * gid 8, size 12, mtime 12, chksum 8, typeflag 1, linkname 100, magic 6, version 2, uname 32, gname 32, devmajor 8,
 * devminor 8, prefix 155. Numbers are octal digits ended by NUL. The checksum is the sum of all header bytes, with
 * spaces in the checksum field itself.
 */
export class HeaderWriter {
  readonly #template: Buffer;

  /** Prepares headers whose modification time is `mtime`, in seconds since 1970. */
  constructor(mtime: number) {
    const header = Buffer.alloc(RECORD);
    writeOctal(header, 108, 7, 0);
    writeOctal(header, 116, 7, 0);
    writeOctal(header, 136, 11, Math.min(Math.max(0, Math.trunc(mtime)), MAX_MTIME));
    header.write('        ', 148, 'latin1');
    header.write('ustar\x0000root', 257, 'latin1');
    header.write('root', 297, 'latin1');
    writeOctal(header, 329, 7, 0);
    writeOctal(header, 337, 7, 0);
    this.#template = header;
  }

  /** Writes the header of one entry into `target` at position `at`. */
  write(target: Buffer, at: number, { type, mode, size, name, prefix = NO_BYTES, link = NO_BYTES }: EntryHeader): void {
    this.#template.copy(target, at);
    target.write(name, at, 'latin1');
    writeOctal(target, at + 100, 7, mode);
    writeOctal(target, at + 124, 11, size);
    target.write(type, at + 156, 'latin1');
    target.write(link, at + 157, 'latin1');
    target.write(prefix, at + 345, 'latin1');
    let sum = 0;
    for (let byte = at; byte < at + RECORD; byte++) sum += target[byte]!;
    writeOctal(target, at + 148, 7, sum);
    target[at + 155] = 0;
  }
}

/**
 * Returns one pax record, `<length> <key>=<value>` and a line feed. A record is one attribute of an entry. The length
 * includes its own digits.
 */
export function paxRecord(key: string, value: ByteString): ByteString {
  const rest = key.length + value.length + 3;
  let length = rest + String(rest).length;
  length = rest + String(length).length;
  return concatBytes(bytesOf(`${length} ${key}=`), value, LINE_FEED);
}

function writeOctal(target: Buffer, at: number, digits: number, value: number): void {
  target.write(value.toString(8).padStart(digits, '0'), at, 'latin1');
}
