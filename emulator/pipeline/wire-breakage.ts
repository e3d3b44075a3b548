import type { CutPoint, Ending } from '../faults/kinds/cut.js';
import type { CutPlace } from '../http/broken-bytes.js';

/** What is to happen to the bytes of one request and its answer. */
export interface WireBreakage {
  /** Returns the body of the request, broken as `bodyCut` and `bodyRate` say. */
  readonly breakBody: (chunks: AsyncIterable<Buffer>) => AsyncIterable<Buffer>;
  /** Of the body of the request. */
  bodyCut?: { readonly at: CutPoint | undefined; readonly how: Ending };
  bodyRate?: number;
  /** Of the body of the answer. */
  cut?: { readonly at: CutPlace; readonly how: Ending };
  flip?: { readonly offset: number | undefined };
  rate?: number;
}
