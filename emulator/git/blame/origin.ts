import type { Lines } from '../diff/line-interner.js';
import type { ByteString } from '../object/bytes.js';
import type { GraphPosition } from '../revwalk/commit-graph.js';

/** `count` lines that start at line `final` of the blamed file and at line `start` of an origin's file. */
export interface BlameEntry {
  readonly final: number;
  readonly start: number;
  readonly count: number;
}

/** File in a commit that may have introduced some of the lines. Git's `struct blame_origin`. */
export class Origin {
  /** Lines that this file may have introduced, ordered by `start`. */
  suspects: BlameEntry[] = [];
  /** File in the parent with which this file was first compared. */
  previous: Origin | undefined;
  /** Content of the file; undefined while it is not needed. */
  lines: Lines | undefined;

  constructor(
    readonly commit: GraphPosition,
    readonly path: ByteString,
    readonly mode: number,
    /** Object number of the content. */
    readonly blob: number,
  ) {}

  suspect(entries: readonly BlameEntry[]): void {
    this.suspects = [...this.suspects, ...entries].sort(byStart);
  }
}

export function byStart(a: BlameEntry, b: BlameEntry): number {
  return a.start - b.start;
}
