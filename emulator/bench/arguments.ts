import { basename, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { RepositoryPlace } from './fixture.js';

export type BenchOptions = ReturnType<typeof parseBenchArguments>;

export const USAGE = `Measures the emulator against Git and against bare node:http.

  --repo [NAME=]PATH  measure on this repository; several may be given (they are only read)
  --generated N       measure on a generated history of N commits; several may be given
                      (4000 unless a repository is named)
  --only PATTERN      only rows whose id matches the regular expression
  --seconds N         start another round of a row only if it would end within N seconds (default 12)
  --json FILE         append each result to FILE as soon as it is there
  --resume            leave out what FILE of --json holds already
  --join FILE         measure nothing: print the tables of such a file; of results of one row the last counts
  --write             write the tables into emulator/bench/README.md
  --work DIR          keep copies and generated histories here and use them again
`;

/**
 * Parses the benchmarks' command-line arguments. Throws an error with a message for the user if an argument is unknown
 * or invalid.
 */
export function parseBenchArguments(argv: readonly string[]) {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      repo: { type: 'string', multiple: true, default: [] },
      generated: { type: 'string', multiple: true },
      only: { type: 'string', default: '' },
      seconds: { type: 'string', default: '12' },
      json: { type: 'string' },
      resume: { type: 'boolean', default: false },
      join: { type: 'string' },
      write: { type: 'boolean', default: false },
      work: { type: 'string' },
    },
  });
  const { json, resume: resumes, join, write: writes, work } = values;
  const repositories = values.repo.map(readRepository);
  const named = values.generated ?? (repositories.length > 0 ? [] : ['4000']);
  const generated = named.map((text) => wholeNumber('--generated', text));
  const names = [...repositories.map(({ name }) => name), ...generated];
  if (new Set(names).size < names.length) {
    throw new Error('--repo and --generated take each name and number once; NAME=PATH tells repositories apart.');
  }
  if (resumes && json === undefined) throw new Error('--resume needs --json FILE, which says what is there.');
  const seconds = wholeNumber('--seconds', values.seconds);
  return { only: readPattern(values.only), repositories, generated, seconds, json, resumes, join, writes, work };
}

/**
 * Parses the value of `--repo`: `NAME=PATH`, or only `PATH`. Results show the repository under NAME; without NAME,
 * under the last part of PATH.
 */
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
    throw new Error(`--only takes a regular expression; "${text}" is invalid.`);
  }
}

function wholeNumber(flag: string, text: string): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < 1 || !Number.isSafeInteger(number)) {
    throw new Error(`${flag} takes a whole number from 1.`);
  }
  return number;
}
