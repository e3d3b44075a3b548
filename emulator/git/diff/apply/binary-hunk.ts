import { inflateSync } from 'node:zlib';
import { readBase85Line } from '../base85.js';
import type { BinaryHunk } from './file-patch.js';
import type { LineReader } from './line-reader.js';
import { PatchError } from './patch-error.js';

/**
 * Reads one hunk of a binary patch and leaves the reader behind it; undefined where there is none.
 * The format is described with `writeBinaryPatch`. Throws `PatchError`.
 */
export function readBinaryHunk(lines: LineReader, limit: number): BinaryHunk | undefined {
  const header = /^(literal|delta) (\d{1,15})$/.exec(lines.text);
  if (!header) return undefined;
  const size = Number(header[2]);
  const first = lines.number;
  lines.next();
  const pieces: Buffer[] = [];
  for (; !lines.isDone && lines.end - lines.start > 1; lines.next()) {
    const piece = readBase85Line(lines.bytes, lines.start, lines.isComplete ? lines.end - 1 : lines.end);
    if (!piece) throw corrupt(lines.number);
    pieces.push(piece);
  }
  if (lines.isDone) throw corrupt(lines.number);
  lines.next();
  if (size > limit) throw new PatchError('malformed', `binary patch of ${size} bytes at line ${first} is too large`);
  return { method: header[1] as BinaryHunk['method'], data: inflate(Buffer.concat(pieces), size, first) };
}

function inflate(deflated: Buffer, size: number, line: number): Buffer {
  try {
    const data = inflateSync(deflated, { maxOutputLength: Math.max(1, size) });
    if (data.length === size) return data;
  } catch {
    // Reported below, like data of the wrong length.
  }
  throw corrupt(line);
}

function corrupt(line: number): PatchError {
  return new PatchError('malformed', `corrupt binary patch at line ${line}`);
}
