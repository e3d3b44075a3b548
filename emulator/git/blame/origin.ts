import type { Lines } from '../diff/line-interner.js';
import type { ByteString } from '../object/bytes.js';
import type { GraphPosition } from '../revwalk/commit-graph.js';

/**
 * Group of `count` consecutive lines. It starts at line `final` of the blamed file. In the older version that is being
 * examined, it starts at line `start`.
 */
export interface BlameEntry {
  readonly final: number;
  readonly start: number;
  readonly count: number;
}

/**
 * Version of a file in one commit. It may have introduced some lines of the blamed file. Corresponds to Git's `struct
 * blame_origin`.
 */
export class Origin {
  /** Groups of lines that this version may have introduced, ordered by `start`. */
  suspects: BlameEntry[] = [];
  /** Version in a parent with which this version was compared first; undefined if none yet. */
  previous: Origin | undefined;
  /** Content of this version, split into lines. Undefined while it is not needed, to save memory. */
  lines: Lines | undefined;

  constructor(
    readonly commit: GraphPosition,
    readonly path: ByteString,
    readonly mode: number,
    /** Number of the blob in the object store (index into its tables). */
    readonly blob: number,
  ) {}

  suspect(entries: readonly BlameEntry[]): void {
    this.suspects = [...this.suspects, ...entries].sort(byStart);
  }
}

export function byStart(a: BlameEntry, b: BlameEntry): number {
  return a.start - b.start;
}
