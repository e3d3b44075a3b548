import { parseArgs } from 'node:util';

export interface BenchOptions {
  readonly json: string | undefined;
  readonly only: RegExp | undefined;
  readonly repo: string | undefined;
  readonly rounds: number;
  readonly isQuick: boolean;
  readonly growth: boolean;
  /** Folder that keeps generated histories from run to run; a temporary one that does not unless given. */
  readonly work: string | undefined;
}

export const USAGE = `Measures the emulator against Git and against bare node:http.

  --json FILE      write every figure to FILE
  --only PATTERN   only rows whose id matches the regular expression
  --repo PATH      measure on this bare repository too (it is only read)
  --rounds N       rounds of each row (default 7; with --quick 2)
  --quick          a short run: 1,000 commits, few rounds
  --growth         how rows grow from 1,000 to 100,000 commits (takes long)
  --work DIR       keep generated histories here and use them again
`;

/** Throws with a sentence on anything it does not know. */
export function parseBenchArguments(argv: readonly string[]): BenchOptions | 'help' {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      json: { type: 'string' },
      only: { type: 'string' },
      repo: { type: 'string' },
      rounds: { type: 'string' },
      quick: { type: 'boolean' },
      growth: { type: 'boolean' },
      work: { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) return 'help';
  const isQuick = values.quick === true;
  const rounds = values.rounds === undefined ? (isQuick ? 2 : 7) : Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds takes a whole number from 1.');
  return {
    json: values.json,
    only: values.only === undefined ? undefined : new RegExp(values.only),
    repo: values.repo,
    rounds,
    isQuick,
    growth: values.growth === true,
    work: values.work,
  };
}
