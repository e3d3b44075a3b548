import { median } from './statistics.js';

export type Unit = 'ms' | 'KB' | 'MB' | 'requests' | 'requests/s';

/** Measures one side in one round. Resolves to a figure in the row's unit. */
export type Measure = (round: number) => Promise<number>;

/** The two sides of a row, ready for measurement. */
export interface Sides {
  readonly ours: Measure;
  readonly native?: Measure;
}

/** Registers a resource that is disposed of after the row's measurement. Returns the resource. */
export type Use = <T extends AsyncDisposable>(resource: T) => T;

/** Registered resources. They are disposed of in reverse order. */
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
 * One row of the table: the same work done by the emulator and by its peer. `Place` is the type of the environment in
 * which it is measured.
 */
export interface Row<Place> {
  /** Id in kebab-case, for `--only`. */
  readonly id: string;
  readonly title: string;
  /** Default: no peer. */
  readonly peer?: string;
  /** Default: milliseconds. */
  readonly unit?: Unit;
  /** Limit for ours / peer: a maximum, or a minimum if more is better. Without a peer, the limit for ours. */
  readonly bar: number;
  /** Limits for individual repositories, by name. */
  readonly barOf?: Readonly<Record<string, number>>;
  readonly isMoreBetter?: true;
  /** Maximum number of rounds, if it is limited. */
  readonly mostRounds?: number;
  /** Returns true if the row is measured in this place. Default: always. */
  readonly isFor?: (place: Place) => boolean;
  readonly open: (place: Place, use: Use) => Sides | Promise<Sides>;
}

/** Result of measuring one row. */
export interface Result extends Required<Pick<Row<never>, 'id' | 'title' | 'peer' | 'unit' | 'bar'>> {
  readonly isMoreBetter: boolean;
  /** All figures, in order of the rounds. */
  readonly samples: { readonly ours: readonly number[]; readonly native: readonly number[] };
  /** Medians. */
  readonly ours: number;
  readonly native: number | undefined;
  /** Median of the rounds' ratios, and the ratio of the first round, in which no cache is warm. */
  readonly ratio: number | undefined;
  readonly firstRatio: number | undefined;
  readonly isReached: boolean;
}

const SIDES = ['ours', 'native'] as const;
/** Number of rounds of a row that is not quick. */
const ROUNDS = 7;

/**
 * Maximum number of rounds of quick rows, and the time in milliseconds after which no further one starts. A median of
 * few short rounds would measure mainly the JIT compiler, on both sides.
 */
const MAX_ROUNDS = 280;
const QUICK_TIME = 3000;

/**
 * Measures both sides alternately; each side is first in every other round. After the first round, another one starts
 * only if it would end within `seconds`.
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
  // Both sides of a round ran one after the other, so a temporary slowdown of the machine affects both.
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
