import { median } from './statistics.js';

export type Unit = 'ms' | 'KB' | 'MB' | 'requests' | 'requests/s';

/** Measures the emulator or its peer in one round. Resolves to a figure in the benchmark's unit. */
export type Measure = (round: number) => Promise<number>;

/** The two sides of a benchmark, ready to be measured: the emulator (`ours`), and its peer, such as Git (`native`). */
export interface Sides {
  readonly ours: Measure;
  readonly native?: Measure;
}

/** Registers a resource, such as a server, and returns it. The resource is disposed of after the benchmark. */
export type Use = <T extends AsyncDisposable>(resource: T) => T;

/** Resources of a benchmark, such as servers. The last registered resource is disposed of first. */
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

/**
 * Benchmark: work that the emulator and its peer, such as Git, both do. It is one row of the result table. `Place` is
 * the type of the environment in which it runs, such as a server with a repository.
 */
export interface Row<Place> {
  /** Id of the benchmark in kebab-case, for the flag `--only`. */
  readonly id: string;
  readonly title: string;
  /** Program with which the emulator is compared. Default: none. */
  readonly peer?: string;
  /** Unit of the figures. Default: milliseconds. */
  readonly unit?: Unit;
  /**
   * Limit for the emulator's figure divided by the peer's; without a peer, for the emulator's figure itself. It is a
   * maximum, or a minimum if `isMoreBetter` is true.
   */
  readonly bar: number;
  /** Limits for individual repositories, which override `bar`. The keys are the repositories' names in the results. */
  readonly barOf?: Readonly<Record<string, number>>;
  readonly isMoreBetter?: true;
  /** Maximum number of rounds of this benchmark. Default: the general maximum. */
  readonly mostRounds?: number;
  /** Returns true if the benchmark should run in this environment. If absent, it always runs. */
  readonly isFor?: (place: Place) => boolean;
  readonly open: (place: Place, use: Use) => Sides | Promise<Sides>;
}

/** Measured result of one benchmark, for the emulator (`ours`) and its peer (`native`). */
export interface Result extends Required<Pick<Row<never>, 'id' | 'title' | 'peer' | 'unit' | 'bar'>> {
  readonly isMoreBetter: boolean;
  /** Figures of all rounds, in order. */
  readonly samples: { readonly ours: readonly number[]; readonly native: readonly number[] };
  /** Medians of the figures of all rounds. */
  readonly ours: number;
  readonly native: number | undefined;
  /**
   * Ratios of the emulator's figure to the peer's. `ratio` is the median of all rounds. `firstRatio` is that of the
   * first round, in which caches are cold.
   */
  readonly ratio: number | undefined;
  readonly firstRatio: number | undefined;
  readonly isReached: boolean;
}

const SIDES = ['ours', 'native'] as const;
/** Number of rounds of a benchmark, unless its rounds are short. */
const ROUNDS = 7;

/**
 * Limits for benchmarks with short rounds: the maximum number of rounds, and the time in milliseconds after which no
 * new round starts. The number is high, because the median of a few short rounds would mainly measure the JIT compiler,
 * on both sides.
 */
const MAX_ROUNDS = 280;
const QUICK_TIME = 3000;

/**
 * Measures a benchmark in rounds. Each round measures both sides; the side that is measured first alternates. After the
 * first round, a new round starts only if it would end within `seconds`.
 */
export async function measureRow<Place>(row: Row<Place>, place: Place, seconds: number): Promise<Result> {
  await using resources = new Resources();
  const sides = await row.open(place, resources.use);
  const samples = { ours: [] as number[], native: [] as number[] };
  const start = performance.now();
  let longest = 0;
  const isDue = (round: number) => {
    if (round === 0) return true;
    if (round >= (row.mostRounds ?? MAX_ROUNDS)) return false;
    const elapsed = performance.now() - start;
    return round < ROUNDS ? elapsed + longest < seconds * 1000 : elapsed < Math.min(QUICK_TIME, seconds * 1000);
  };
  for (let round = 0; isDue(round); round++) {
    const time = await timed(async () => {
      for (const side of round % 2 === 0 ? SIDES : SIDES.toReversed()) {
        const measure = sides[side];
        if (measure) samples[side].push(await measure(round));
      }
    });
    longest = Math.max(longest, time);
  }
  return summarize(row, samples);
}

type Head = Omit<Row<never>, 'open' | 'barOf' | 'isFor'>;

export function summarize(row: Head, samples: Result['samples']): Result {
  const { id, title, peer = '', unit = 'ms', bar, isMoreBetter = false } = row;
  const hasPeer = samples.native.length > 0;
  const ours = median(samples.ours);
  // Computes one ratio per round, because a temporary slowdown of the machine affects both sides of the same round.
  const ratios = samples.native.map((native, round) => samples.ours[round]! / native);
  const ratio = hasPeer ? median(ratios) : undefined;
  const figure = ratio ?? ours;
  return {
    ...{ id, title, peer, unit, bar, isMoreBetter, samples, ours, ratio },
    native: hasPeer ? median(samples.native) : undefined,
    firstRatio: ratios[0],
    isReached: isMoreBetter ? figure >= bar : figure <= bar,
  };
}

/** Returns the duration of `work` in milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
