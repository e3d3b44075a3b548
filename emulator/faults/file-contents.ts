import { FAULT_LIMITS } from './fault-limits.js';

/** Path of a file, and its content or a part of it. */
export interface FileBytes {
  readonly path: string;
  readonly bytes: Buffer;
}

/** Beginning of the content of a file, decoded from UTF-8. */
export interface FileContent {
  readonly path: string;
  readonly text: string;
}

/**
 * Decodes the contents of files for conditions of faults, up to the limits in `FAULT_LIMITS`. `files` also yields work
 * units (microseconds), which are passed on. Stops reading `files` when the limit of all contents is reached.
 */
export function* readContents(files: Iterable<FileBytes | number>): Generator<number, FileContent[], void> {
  const contents: FileContent[] = [];
  let left: number = FAULT_LIMITS.contents;
  for (const file of files) {
    if (typeof file === 'number') {
      yield file;
      continue;
    }
    const bytes = file.bytes.subarray(0, Math.min(FAULT_LIMITS.content, left));
    contents.push({ path: file.path, text: bytes.toString('utf8') });
    yield bytes.length * UNITS_PER_BYTE;
    left -= bytes.length;
    if (left === 0) break;
  }
  return contents;
}

/** Work units for decoding one byte. */
const UNITS_PER_BYTE = 1 / 2048;
