import type { ByteString } from '../object/bytes.js';

/** A hunk of lines. */
export interface TextHunk {
  /** Line number in the header, starting at 1; 0 for an empty side. */
  readonly oldStart: number;
  /** Number of lines before the hunk, from the header. A number that overflows is what Git computes from it. */
  readonly above: number;
  /** Old and new lines, including their line feeds. */
  readonly oldText: Buffer;
  readonly newText: Buffer;
  /** Numbers of lines in the header. */
  readonly oldCount: number;
  readonly newCount: number;
  /** Number of lines that `newText` consists of. */
  readonly newLines: number;
  /** Ends of the lines in `oldText` without a line feed: the last line or, in handcrafted patches, any line. */
  readonly oldBreaks: readonly number[];
  /** Number of unchanged lines at the end. */
  readonly trailing: number;
}

/** New content, complete or as a delta to the old one, inflated. */
export interface BinaryHunk {
  readonly method: 'literal' | 'delta';
  readonly data: Buffer;
}

/** Patch of one file. */
export class FilePatch {
  /** Undefined for a new file. */
  oldPath: ByteString | undefined;
  /** Undefined for a deleted file. */
  newPath: ByteString | undefined;
  /** Undefined for traditional headers, which do not state it; the tree decides. */
  isNew: boolean | undefined;
  isDelete: boolean | undefined;
  isRename = false;
  isCopy = false;
  /** 0 if absent. */
  oldMode = 0;
  newMode = 0;
  /** Ids of the `index` line, complete or abbreviated. */
  oldOid = '';
  newOid = '';
  readonly hunks: TextHunk[] = [];
  /** True also without data, for "Binary files differ". */
  isBinary = false;
  binary: BinaryHunk | undefined;
}
