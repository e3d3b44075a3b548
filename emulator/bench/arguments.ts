import { basename, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { RepositoryPlace } from './fixture.js';

export interface BenchOptions {
  readonly only: RegExp | undefined;
  /** Real repositories, only read. */
  readonly repositories: readonly RepositoryPlace[];
  /** Numbers of commits of generated histories. */
  readonly generated: readonly number[];
  readonly rounds: number;
  /** Of a row, past which no other round begins. */
  readonly seconds: number;
  readonly isQuick: boolean;
  /** File that each result is appended to. */
  readonly json: string | undefined;
  /** Leaves out what that file holds. */
  readonly resumes: boolean;
  /** Files of results, whose tables are printed instead of measuring. */
  readonly join: readonly string[];
  readonly writes: boolean;
  /** Folder that keeps repositories from run to run; a temporary one that does not unless given. */
  readonly work: string | undefined;
}

export const USAGE = `Measures the emulator against Git and against bare node:http.

  --repo [NAME=]PATH  measure on this repository; several may be given (they are only read)
  --generated N       measure on a generated history of N commits; several may be given
                      (4000, and with --quick 1000, unless a repository is named)
  --only PATTERN      only rows whose id matches the regular expression
  --rounds N          rounds of each row (default 7; with --quick 2)
  --seconds N         begin no other round that would end later in its row (default 12)
  --quick             a short run
  --json FILE         append each result to FILE as soon as it is there
  --resume            leave out what FILE of --json holds already
  --join FILE         measure nothing: print the tables of such a file; several may be given, later results count
  --write             write the tables into emulator/bench/README.md
  --work DIR          keep copies and generated histories here and use them again
`;

const MEASURING = ['repo', 'generated', 'only', 'rounds', 'seconds', 'quick', 'json', 'resume', 'work'] as const;

/** Throws with a sentence on anything it does not know. */
export function parseBenchArguments(argv: readonly string[]): BenchOptions | 'help' {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      repo: { type: 'string', multiple: true, default: [] },
      generated: { type: 'string', multiple: true, default: [] },
      only: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      quick: { type: 'boolean' },
      json: { type: 'string' },
      resume: { type: 'boolean' },
      join: { type: 'string', multiple: true, default: [] },
      write: { type: 'boolean' },
      work: { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) return 'help';
  const isQuick = values.quick === true;
  const repositories = values.repo.map(readRepository);
  const named = values.generated.map((text) => wholeNumber('--generated', text));
  const generated = named.length + repositories.length > 0 ? named : [isQuick ? 1000 : 4000];
  const names = repositories.map(({ name }) => name);
  if (new Set(names).size < names.length)
    throw new Error('--repo names two repositories alike; NAME=PATH tells them apart.');
  if (new Set(generated).size < generated.length) throw new Error('--generated takes each number once.');
  if (values.resume && values.json === undefined)
    throw new Error('--resume needs --json FILE, which says what is there.');
  if (values.join.length > 0) {
    const beside = MEASURING.find((name) => {
      const value = values[name];
      return Array.isArray(value) ? value.length > 0 : value !== undefined;
    });
    if (beside) throw new Error(`--join measures nothing, so it takes no --${beside}.`);
  }
  return {
    only: values.only === undefined ? undefined : readPattern(values.only),
    repositories,
    generated,
    rounds: values.rounds === undefined ? (isQuick ? 2 : 7) : wholeNumber('--rounds', values.rounds),
    seconds: values.seconds === undefined ? 12 : wholeNumber('--seconds', values.seconds),
    isQuick,
    json: values.json,
    resumes: values.resume === true,
    join: values.join,
    writes: values.write === true,
    work: values.work,
  };
}

/** `NAME=PATH`, or a path, whose last part is the name. */
function readRepository(text: string): RepositoryPlace {
  const [, given, path = text] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
  const place = resolve(path);
  const name = given ?? basename(place.replace(/\/(repo|\.git)$/, ''), '.git');
  if (name === '' || path === '' || /[|\n]/.test(name)) throw new Error('--repo takes PATH, or NAME=PATH.');
  return { name, path: place };
}

function readPattern(text: string): RegExp {
  try {
    return new RegExp(text);
  } catch {
    throw new Error(`--only takes a regular expression; "${text}" is none.`);
  }
}

function wholeNumber(flag: string, text: string): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < 1 || !Number.isSafeInteger(number)) {
    throw new Error(`${flag} takes a whole number from 1.`);
  }
  return number;
}
