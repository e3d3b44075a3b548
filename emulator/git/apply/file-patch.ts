import type { ByteString } from '../object/bytes.js';

/** Hunk of a text patch: lines of the old file and the lines that replace them. */
export interface TextHunk {
  /** Number of the first old line, as stated in the hunk header. Starts at 1; 0 if the hunk has no old lines. */
  readonly oldStart: number;
  /**
   * Number of lines before the hunk in the new file, according to the hunk header. A header number that overflows gives
   * the same value as in Git.
   */
  readonly above: number;
  /**
   * `oldText`: unchanged and removed lines of the hunk. `newText`: unchanged and added lines. Both include the line
   * feeds.
   */
  readonly oldText: Buffer;
  readonly newText: Buffer;
  /** Numbers of old and new lines, as stated in the hunk header. */
  readonly oldCount: number;
  readonly newCount: number;
  /** Number of lines in `newText`. */
  readonly newLines: number;
  /**
   * Positions in `oldText` at which a line ends without a line feed ("No newline at end of file"). Usually only the
   * last line does; in a handcrafted patch, any line may.
   */
  readonly oldBreaks: readonly number[];
  /** Number of unchanged lines after the last change of the hunk. */
  readonly trailing: number;
}

/**
 * Inflated hunk of a binary patch. `literal` data is the complete new content; `delta` data turns the old content into
 * the new one.
 */
export interface BinaryHunk {
  readonly method: 'literal' | 'delta';
  readonly data: Buffer;
}

/** Part of a patch that changes one file. */
export class FilePatch {
  /** Path before the change; undefined for a new file. */
  oldPath: ByteString | undefined;
  /** Path after the change; undefined for a deleted file. */
  newPath: ByteString | undefined;
  /**
   * True if the patch creates the file. Undefined if the header does not say so, as in traditional headers; the
   * presence of the file in the tree then decides.
   */
  isNew: boolean | undefined;
  isDelete: boolean | undefined;
  isRename = false;
  isCopy = false;
  /** File modes before and after the change; 0 if the header does not state them. */
  oldMode = 0;
  newMode = 0;
  /** Object ids of the old and new content from the `index` line, complete or abbreviated. */
  oldOid = '';
  newOid = '';
  readonly hunks: TextHunk[] = [];
  /** True for a binary patch. It may have no data, if the patch only says "Binary files differ". */
  isBinary = false;
  binary: BinaryHunk | undefined;
}
