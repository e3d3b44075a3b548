import { median, pairedRatio } from './statistics.js';

export type Unit = 'ms' | 'KB' | 'MB' | 'requests' | 'requests/s';

/** What a side measured in one round, in the row's unit; undefined when the service does not offer it. */
export type Measure = (round: number) => Promise<number | undefined>;

/** The two sides of a row, ready to be measured. */
export interface Sides {
  readonly ours: Measure;
  readonly native?: Measure;
  /** Takes away what the row made. */
  readonly close?: () => Promise<void>;
}

/** One line of the table: the same work done by the emulator and by its peer. `Place` is where it is measured. */
export interface Row<Place> {
  /** kebab-case; `--only` selects by it. */
  readonly id: string;
  readonly title: string;
  readonly peer: string;
  readonly unit: Unit;
  /** What ours / peer must reach: at most, or at least where more is better. Without a peer: ours itself. */
  readonly bar: number;
  /** The bar of repositories that have one of their own, by their names. */
  readonly barOf?: Readonly<Record<string, number>>;
  readonly isMoreBetter?: true;
  /** Rounds, where there cannot be more. */
  readonly mostRounds?: number;
  /** Where it is measured; everywhere unless told. */
  readonly isFor?: (place: Place) => boolean;
  readonly open: (place: Place) => Sides | Promise<Sides>;
}

export interface Result {
  readonly id: string;
  readonly title: string;
  readonly peer: string;
  readonly unit: Unit;
  readonly bar: number;
  readonly isMoreBetter: boolean;
  readonly isServed: boolean;
  /** Every figure, in order of the rounds. */
  readonly samples: { readonly ours: readonly number[]; readonly native: readonly number[] };
  /** Medians. */
  readonly ours: number;
  readonly native: number | undefined;
  /** Median of the rounds' ratios, and the ratio of the first round, when nothing is warm. */
  readonly ratio: number | undefined;
  readonly firstRatio: number | undefined;
  readonly isReached: boolean;
}

/** How much is measured of a row: so many rounds, or fewer when another one would end after so many seconds. */
export interface Extent {
  readonly rounds: number;
  readonly seconds: number;
}

/** Runs both sides in meter, each first in every other round. */
export async function measureRow<Place>(row: Row<Place>, place: Place, extent: Extent): Promise<Result> {
  const sides = await row.open(place);
  try {
    return await measureSides(row, sides, extent);
  } finally {
    await sides.close?.();
  }
}

type Head = Omit<Row<never>, 'open' | 'barOf' | 'isFor'>;

/**
 * What is over soon is done so many times as often as was asked for, unless it takes so many milliseconds: a median of
 * few rounds would tell how long the compiler takes, on both sides.
 */
const QUICK = 40;
const QUICK_TIME = 3000;

async function measureSides(row: Head, sides: Sides, extent: Extent): Promise<Result> {
  const mostRounds = row.mostRounds ?? Number.POSITIVE_INFINITY;
  const rounds = Math.min(extent.rounds, mostRounds);
  const ours: number[] = [];
  const native: number[] = [];
  let isServed = true;
  const runOurs = async (round: number) => {
    const figure = await sides.ours(round);
    if (figure === undefined) isServed = false;
    else ours.push(figure);
  };
  const runNative = async (round: number) => {
    const figure = await sides.native?.(round);
    if (figure !== undefined) native.push(figure);
  };
  const start = performance.now();
  let longest = 0;
  const isDue = (round: number) => {
    const elapsed = performance.now() - start;
    if (round < rounds) return round === 0 || elapsed + longest < extent.seconds * 1000;
    return round < QUICK * rounds && round < mostRounds && elapsed < Math.min(QUICK_TIME, extent.seconds * 1000);
  };
  for (let round = 0; isDue(round) && isServed; round++) {
    const both = async () => {
      for (const run of round % 2 === 0 ? [runOurs, runNative] : [runNative, runOurs]) await run(round);
    };
    longest = Math.max(longest, await timed(both));
  }
  return summarize(row, isServed, { ours, native });
}

export function summarize(row: Head, isServed: boolean, samples: Result['samples']): Result {
  const { ours, native } = samples;
  const hasPeer = native.length > 0;
  const ratio = hasPeer && isServed ? pairedRatio(ours, native) : undefined;
  const figure = hasPeer ? ratio : median(ours);
  const isReached = figure !== undefined && (row.isMoreBetter ? figure >= row.bar : figure <= row.bar);
  const { id, title, peer, unit, bar } = row;
  return {
    id,
    title,
    peer,
    unit,
    bar,
    isMoreBetter: row.isMoreBetter === true,
    isServed,
    samples,
    ours: median(ours),
    native: hasPeer ? median(native) : undefined,
    ratio,
    firstRatio: ratio === undefined ? undefined : ours[0]! / native[0]!,
    isReached: isServed && isReached,
  };
}

/** Milliseconds that `work` took. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
