import type { ByteString } from '../object/bytes.js';

/** A hunk of lines. */
export interface TextHunk {
  /** As in its header: from 1, or 0. */
  readonly oldStart: number;
  /** Lines above its place, as the header has it; of a number that Git cannot count to, what Git makes of it. */
  readonly above: number;
  /** The lines before and after, each with the line feed it has. */
  readonly oldText: Buffer;
  readonly newText: Buffer;
  /** Lines, as in the header. */
  readonly oldCount: number;
  readonly newCount: number;
  /** Lines that `newText` was put together from. */
  readonly newLines: number;
  /** Where lines end in `oldText` that have no line feed: at its end or, in made-up patches, anywhere. */
  readonly oldBreaks: readonly number[];
  /** Unchanged lines at the end. */
  readonly trailing: number;
}

/** New content, whole or as a delta to the old one; inflated. */
export interface BinaryHunk {
  readonly method: 'literal' | 'delta';
  readonly data: Buffer;
}

/** What a patch does to one file. */
export class FilePatch {
  /** Undefined for a new file. */
  oldPath: ByteString | undefined;
  /** Undefined for a deleted file. */
  newPath: ByteString | undefined;
  /** Undefined while only the tree can tell: headers that are not Git's do not say. */
  isNew: boolean | undefined;
  isDelete: boolean | undefined;
  isRename = false;
  isCopy = false;
  /** 0 where none is given. */
  oldMode = 0;
  newMode = 0;
  /** As in the `index` line: whole ids or the start of them. */
  oldOid = '';
  newOid = '';
  readonly hunks: TextHunk[] = [];
  /** With or without data: "Binary files differ" has none. */
  isBinary = false;
  binary: BinaryHunk | undefined;
}
