import { gunzipSync } from 'node:zlib';
import type { Answer } from '../../check/answer.js';
import { AssertionFailure } from '../../check/outcomes.js';

export interface TarFile {
  readonly name: string;
  /** Permission bits. */
  readonly mode: number;
  readonly bytes: Buffer;
}

/**
 * The files of a tar.gz body (POSIX ustar: blocks of 512 bytes; name at 0, mode at 100, size at 124, type at 156,
 * prefix at 345; pax headers, type `x`, replace the path of the next entry).
 */
export function readTar(answer: Answer): TarFile[] {
  const tar = gunzip(answer);
  const files: TarFile[] = [];
  let longPath: string | undefined;
  for (let at = 0; at + 512 <= tar.length && tar[at] !== 0; ) {
    const header = tar.subarray(at, at + 512);
    const size = Number.parseInt(text(header, 124, 12), 8) || 0;
    const bytes = tar.subarray(at + 512, at + 512 + size);
    const type = String.fromCharCode(header[156] || 0x30);
    at += 512 + Math.ceil(size / 512) * 512;
    if (type === 'x') longPath = /\d+ path=(.*)\n/.exec(bytes.toString('utf8'))?.[1];
    else if (type === 'L') longPath = text(bytes, 0, size);
    if (type !== '0') continue;
    const prefix = text(header, 345, 155);
    const name = longPath ?? (prefix === '' ? '' : `${prefix}/`) + text(header, 0, 100);
    files.push({ name, mode: Number.parseInt(text(header, 100, 8), 8) & 0o777, bytes: Buffer.from(bytes) });
    longPath = undefined;
  }
  return files;
}

function gunzip(answer: Answer): Buffer {
  try {
    return gunzipSync(answer.body);
  } catch {
    throw new AssertionFailure('the body is gzip', 'gzip', answer.body.subarray(0, 40).toString('latin1'));
  }
}

function text(bytes: Buffer, start: number, length: number): string {
  const part = bytes.subarray(start, start + length);
  const end = part.indexOf(0);
  return part.toString('utf8', 0, end === -1 ? part.length : end).trim();
}
