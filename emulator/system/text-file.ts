import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { systemErrorText } from './error-text.js';

/**
 * Error that is thrown if a file cannot be read. The message is the reason in a few words, such as `no such file or
 * directory`.
 */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';
}

const MEBIBYTE = 2 ** 20;
const CHUNK = 64 * 1024;

/**
 * Reads a UTF-8 text file of at most `limit` bytes (default: 1 MiB). Throws `UnreadableFile` if it is longer or cannot
 * be read. At most one chunk past the limit is read. The limit of a device is at most 1 MiB, because devices such as
 * `/dev/zero` have no end.
 */
export function readTextFile(file: string, limit = MEBIBYTE): string {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'r');
    const stat = fstatSync(descriptor);
    const isDevice = stat.isCharacterDevice() || stat.isBlockDevice();
    return readUpTo(descriptor, isDevice ? Math.min(limit, MEBIBYTE) : limit, stat.size).toString();
  } catch (error) {
    if (error instanceof UnreadableFile) throw error;
    throw new UnreadableFile(systemErrorText(error) ?? 'it is not a file');
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/**
 * Reads an open file up to its end. `size` is the size in bytes that the file system reports; 0 for pipes and devices.
 * Throws `UnreadableFile` if the file is longer than `limit` bytes.
 */
function readUpTo(descriptor: number, limit: number, size: number): Buffer {
  const parts: Buffer[] = [];
  for (let total = size > limit ? size : 0; ; ) {
    if (total > limit) throw new UnreadableFile(`it is larger than ${limit / MEBIBYTE} MiB`);
    const part = Buffer.allocUnsafe(CHUNK);
    const length = readSync(descriptor, part);
    if (length === 0) return Buffer.concat(parts);
    parts.push(part.subarray(0, length));
    total += length;
  }
}
