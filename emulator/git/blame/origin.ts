import type { Lines } from '../diff/line-interner.js';
import type { ByteString } from '../object/bytes.js';
import type { GraphPosition } from '../revwalk/commit-graph.js';

/** `count` lines of the blamed file, from line `final` on, that are lines `start` on of some origin's file. */
export interface BlameEntry {
  readonly final: number;
  readonly start: number;
  readonly count: number;
}

/** A file in a commit, suspected of having brought in some of the lines. */
export class Origin {
  /** In order of `start`. */
  suspects: BlameEntry[] = [];
  /** The file in the parent it was first compared with. */
  previous: Origin | undefined;
  /** Its content, while it is needed. */
  lines: Lines | undefined;

  constructor(
    readonly commit: GraphPosition,
    readonly path: ByteString,
    readonly mode: number,
    /** The number of its object. */
    readonly blob: number,
  ) {}

  suspect(entries: readonly BlameEntry[]): void {
    this.suspects = [...this.suspects, ...entries].sort(byStart);
  }
}

export function byStart(a: BlameEntry, b: BlameEntry): number {
  return a.start - b.start;
}
