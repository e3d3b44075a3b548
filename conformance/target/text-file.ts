import { type FileHandle, open } from 'node:fs/promises';

/**
 * Thrown if the content of a file is invalid. The message, such as `is not JSON`, is meant to follow the name of the
 * file.
 */
export class InvalidFile extends Error {
  override readonly name: string = 'InvalidFile';
}

/** Thrown if a file cannot be read. */
export class UnreadableFile extends InvalidFile {
  override readonly name = 'UnreadableFile';
  /** Error code of the operating system. Undefined if the file is too large. */
  readonly code: string | undefined;

  constructor(
    readonly reason: string,
    cause?: NodeJS.ErrnoException,
  ) {
    super(`cannot be read: ${reason}`, { cause });
    this.code = cause?.code;
  }
}

const MEBIBYTE = 2 ** 20;
/** Size of the chunks in which a file is read, in bytes. */
const CHUNK = 64 * 1024;
/** Maximum size in bytes of files that programs write: results, recorded traffic and journals. */
export const LARGE_FILE = 128 * MEBIBYTE;

/** Readable reasons why a file cannot be read or written. The keys are error codes of the operating system. */
const WHY: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  ENOTDIR: 'a part of its path is not a folder',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENAMETOOLONG: 'its name is too long',
  ELOOP: 'its symbolic links form a loop',
  EROFS: 'the file system is read-only',
  EFBIG: 'it exceeds the maximum size of a file',
  ENOSPC: 'no space is left on the device',
  EDQUOT: 'the disk quota is exceeded',
  ERR_INVALID_ARG_VALUE: 'its name is invalid',
};

/** Returns a readable reason for a file system error. `own` has reasons by error code that replace the default ones. */
export function reasonOf(error: unknown, own: Readonly<Record<string, string>> = {}): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const words = { ...WHY, ...own };
  return Object.hasOwn(words, code) ? `${words[code]} (${code})` : message;
}

/**
 * Reads a UTF-8 text file of at most `limit` bytes (default: 1 MiB). Reads at most one chunk beyond the limit. Devices
 * are always limited to 1 MiB, because `/dev/zero` has no end. Throws `UnreadableFile` if the file is larger or cannot
 * be read.
 */
export async function readTextFile(path: string, limit = MEBIBYTE): Promise<string> {
  try {
    const handle = await open(path, 'r');
    try {
      const stat = await handle.stat();
      const isDevice = stat.isCharacterDevice() || stat.isBlockDevice();
      const bytes = await readUpTo(handle, isDevice ? Math.min(limit, MEBIBYTE) : limit, stat.size);
      return bytes.toString().replace(/^\uFEFF/, '');
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof UnreadableFile) throw error;
    throw new UnreadableFile(reasonOf(error), error as NodeJS.ErrnoException);
  }
}

/**
 * Reads a file up to a limit in bytes. Throws `UnreadableFile` if it is larger. `size`: file size in bytes according to
 * the file system; 0 for pipes and devices.
 */
async function readUpTo(handle: FileHandle, limit: number, size: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let total = size > limit ? size : 0; ; ) {
    if (total > limit) throw new UnreadableFile(`it is larger than ${limit / MEBIBYTE} MiB`);
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(CHUNK), 0, CHUNK, null);
    if (bytesRead === 0) return Buffer.concat(parts);
    parts.push(buffer.subarray(0, bytesRead));
    total += bytesRead;
  }
}
