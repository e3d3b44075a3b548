import { median, pairedRatio } from './statistics.js';

export type Unit = 'ms' | 'KB' | 'MB' | 'requests' | 'requests/s';

/** What a side measured in one round, in the row's unit. */
export type Measure = (round: number) => Promise<number>;

/** The two sides of a row, ready to be measured. */
export interface Sides {
  readonly ours: Measure;
  readonly native?: Measure;
}

/** Registers what is to be disposed of when the row was measured; returns it. */
export type Use = <T extends AsyncDisposable>(resource: T) => T;

/** What was registered, disposed of in reverse order. */
export class Resources implements AsyncDisposable {
  readonly #used: AsyncDisposable[] = [];

  readonly use: Use = (resource) => {
    this.#used.push(resource);
    return resource;
  };

  async [Symbol.asyncDispose](): Promise<void> {
    for (const resource of this.#used.reverse()) await resource[Symbol.asyncDispose]();
  }
}

/** One line of the table: the same work done by the emulator and by its peer. `Place` is where it is measured. */
export interface Row<Place> {
  /** kebab-case; `--only` selects by it. */
  readonly id: string;
  readonly title: string;
  /** None unless told. */
  readonly peer?: string;
  /** Milliseconds unless told. */
  readonly unit?: Unit;
  /** What ours / peer must reach: at most, or at least where more is better. Without a peer: ours itself. */
  readonly bar: number;
  /** The bar of repositories that have one of their own, by their names. */
  readonly barOf?: Readonly<Record<string, number>>;
  readonly isMoreBetter?: true;
  /** Rounds, where there cannot be more. */
  readonly mostRounds?: number;
  /** Where it is measured; everywhere unless told. */
  readonly isFor?: (place: Place) => boolean;
  readonly open: (place: Place, use: Use) => Sides | Promise<Sides>;
}

/** One row, measured. */
export interface Result extends Required<Pick<Row<never>, 'id' | 'title' | 'peer' | 'unit' | 'bar'>> {
  readonly isMoreBetter: boolean;
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
  await using resources = new Resources();
  const sides = await row.open(place, resources.use);
  return summarize(row, await measureSides(row, sides, extent));
}

type Head = Omit<Row<never>, 'open' | 'barOf' | 'isFor'>;

/**
 * What is over soon is done so many times as often as was asked for, unless it takes so many milliseconds: a median of
 * few rounds would tell how long the compiler takes, on both sides.
 */
const QUICK = 40;
const QUICK_TIME = 3000;

async function measureSides(row: Head, sides: Sides, extent: Extent): Promise<Result['samples']> {
  const mostRounds = row.mostRounds ?? Number.POSITIVE_INFINITY;
  const rounds = Math.min(extent.rounds, mostRounds);
  const ours: number[] = [];
  const native: number[] = [];
  const start = performance.now();
  let longest = 0;
  const isDue = (round: number) => {
    const elapsed = performance.now() - start;
    if (round < rounds) return round === 0 || elapsed + longest < extent.seconds * 1000;
    return round < QUICK * rounds && round < mostRounds && elapsed < Math.min(QUICK_TIME, extent.seconds * 1000);
  };
  for (let round = 0; isDue(round); round++) {
    const runOurs = async () => ours.push(await sides.ours(round));
    const runNative = async () => sides.native && native.push(await sides.native(round));
    const time = await timed(async () => {
      for (const run of round % 2 === 0 ? [runOurs, runNative] : [runNative, runOurs]) await run();
    });
    longest = Math.max(longest, time);
  }
  return { ours, native };
}

export function summarize(row: Head, samples: Result['samples']): Result {
  const { id, title, peer = '', unit = 'ms', bar, isMoreBetter = false } = row;
  const hasPeer = samples.native.length > 0;
  const ours = median(samples.ours);
  const ratio = hasPeer ? pairedRatio(samples.ours, samples.native) : undefined;
  const figure = ratio ?? ours;
  return {
    ...{ id, title, peer, unit, bar, isMoreBetter, samples, ours, ratio },
    native: hasPeer ? median(samples.native) : undefined,
    firstRatio: hasPeer ? samples.ours[0]! / samples.native[0]! : undefined,
    isReached: isMoreBetter ? figure >= bar : figure <= bar,
  };
}

/** Milliseconds that `work` took. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
