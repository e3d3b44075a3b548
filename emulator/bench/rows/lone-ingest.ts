import { type LoneIngest, MOST_STALL, type StallPhase } from '../lone-ingest.js';
import type { Row } from '../row.js';
import type { Stage } from '../stage.js';

const MiB = 2 ** 20;
/** Below so many bytes of pack the code that was loaded is most of what is held. */
const LARGE = 64 * MiB;

/** A server that was pushed the fixture and asked all first questions: how long its loop stood still, what it holds. */
export const LONE_INGEST_ROWS: readonly Row<Stage>[] = [
  stallRow('stall-ingest', 'in a lone ingest'),
  stallRow('stall-after-ingest', 'after a lone ingest'),
  stallRow('stall-first-questions', 'in the first questions'),
  heldRow('memory-held', 'memory held over pack bytes, after all first questions', ({ resident }) => resident),
  heldRow('memory-held-values', '— of it values and buffers', ({ values }) => values),
];

function stallRow(id: string, phase: StallPhase): Row<Stage> {
  return {
    id,
    title: `longest stall ${phase}`,
    peer: '',
    unit: 'ms',
    bar: MOST_STALL,
    mostRounds: 1,
    open: ({ loneIngest }) => ({ ours: async () => (await loneIngest()).stalls[phase] }),
  };
}

function heldRow(id: string, title: string, figure: (ingest: LoneIngest) => number): Row<Stage> {
  return {
    id,
    title,
    peer: 'the pack',
    unit: 'MB',
    bar: 1.6,
    mostRounds: 1,
    isFor: ({ fixture }) => fixture.packBytes >= LARGE,
    open: ({ loneIngest, fixture }) => ({
      ours: async () => figure(await loneIngest()) / MiB,
      native: async () => fixture.packBytes / MiB,
    }),
  };
}
