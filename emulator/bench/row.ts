import { median } from './statistics.js';

export type Unit = 'ms' | 'KB' | 'MB' | 'requests' | 'requests/s';

/** Measures one side (the emulator or its peer) in one round. Resolves to a figure in the unit of the benchmark. */
export type Measure = (round: number) => Promise<number>;

/** The two sides of a benchmark, the emulator (`ours`) and its peer, such as Git, ready for measurement. */
export interface Sides {
  readonly ours: Measure;
  readonly native?: Measure;
}

/** Registers a resource, such as a server, that is disposed of after a benchmark. Returns the resource. */
export type Use = <T extends AsyncDisposable>(resource: T) => T;

/** Resources of a benchmark, such as servers. They are disposed of in reverse order of their registration. */
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
 * Benchmark, which is one row of the result table: the same work done by the emulator and by its peer, such as Git.
 * `Place`: type of the environment in which the benchmark is measured, such as a server with a repository.
 */
export interface Row<Place> {
  /** Id of the benchmark in kebab-case, which the flag `--only` accepts. */
  readonly id: string;
  readonly title: string;
  /** Name of the program with which the emulator is compared. Default: none. */
  readonly peer?: string;
  /** Unit of the figures. Default: milliseconds. */
  readonly unit?: Unit;
  /**
   * Limit for the emulator's figure divided by that of the peer, or for the emulator's figure if there is no peer. This
   * limit is a maximum, or a minimum if more is better.
   */
  readonly bar: number;
  /** Limits that replace `bar` for individual repositories, by the name of the repository in the results. */
  readonly barOf?: Readonly<Record<string, number>>;
  readonly isMoreBetter?: true;
  /** Maximum number of rounds in which the benchmark is measured. If absent, the default of all benchmarks applies. */
  readonly mostRounds?: number;
  /** Returns true if the benchmark is to be measured in this environment. If absent, it is always measured. */
  readonly isFor?: (place: Place) => boolean;
  readonly open: (place: Place, use: Use) => Sides | Promise<Sides>;
}

/** Result of measuring one benchmark, for the emulator (`ours`) and its peer (`native`). */
export interface Result extends Required<Pick<Row<never>, 'id' | 'title' | 'peer' | 'unit' | 'bar'>> {
  readonly isMoreBetter: boolean;
  /** Measured figures of all rounds, in order. */
  readonly samples: { readonly ours: readonly number[]; readonly native: readonly number[] };
  /** Medians of the figures of all rounds. */
  readonly ours: number;
  readonly native: number | undefined;
  /** Median of the ratios ours / native of all rounds, and the ratio of the first round, in which caches are cold. */
  readonly ratio: number | undefined;
  readonly firstRatio: number | undefined;
  readonly isReached: boolean;
}

const SIDES = ['ours', 'native'] as const;
/** Number of rounds in which a benchmark is measured, if a round is not short. */
const ROUNDS = 7;

/**
 * Maximum number of rounds of a benchmark whose rounds are short, and milliseconds after which no further round starts.
 * The number is high, because a median of few short rounds would measure mainly the JIT compiler, on both sides.
 */
const MAX_ROUNDS = 280;
const QUICK_TIME = 3000;

/**
 * Measures a benchmark in rounds. In each round both sides are measured, and each side is first in every other round.
 * After the first round, another round starts only if it would end within `seconds`.
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
  // Compute the ratio for each round, because a temporary slowdown of the machine affects both sides of a round.
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
