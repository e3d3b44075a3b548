import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { cpus } from 'node:os';
import { Workbench } from '../git/test/workbench.js';
import { type BenchOptions, parseBenchArguments, USAGE } from './arguments.js';
import { runCommand } from './command.js';
import { copiedFixture, type Fixture, generatedFixture, generatedName } from './fixture.js';
import { git } from './git.js';
import { appendEntry, cellsOf, type Entry, readEntries, SERVICE, writePart, writeReport } from './report.js';
import { measureRow, Resources, type Row } from './row.js';
import { ROWS_OF_REPOSITORY, ROWS_OF_SERVICE } from './rows/index.js';
import { openStage } from './stage.js';

/**
 * Maximum duration of one measurement of the request rate, in milliseconds. If `--seconds` is below 8, the duration is
 * shorter.
 */
const LOAD_TIME = 2000;

async function main(options: BenchOptions): Promise<number> {
  const entries = options.join === undefined ? await measureAll(options) : await readEntries(options.join);
  const report = writeReport(entries, [...ROWS_OF_SERVICE, ...ROWS_OF_REPOSITORY]);
  process.stdout.write(`\n${report}`);
  if (options.writes) await writePart('figures', report);
  return 0;
}

async function measureAll(options: BenchOptions): Promise<Entry[]> {
  const { repositories, generated, json, resumes, seconds } = options;
  for (const { path } of repositories) await requireRepository(path);
  const entries = resumes && json !== undefined && existsSync(json) ? await readEntries(json) : [];
  await using folder = await Workbench.create();
  const histories = options.work ?? folder.path;
  await mkdir(histories, { recursive: true });
  const machine = `${cpus().length} cores (${cpus()[0]?.model}), Node ${process.version}, ${await git('.', ['--version'])}`;

  const rowsOf = <Place>(rows: readonly Row<Place>[], column: string) => {
    const done = new Set(entries.filter((entry) => entry.column === column).map(({ result }) => result.id));
    return rows.filter(({ id }) => options.only.test(id) && !done.has(id));
  };
  const measure = async <Place>(column: string, rows: readonly Row<Place>[], size: string, place: Place) => {
    for (const row of rows) {
      if (row.isFor?.(place) === false) continue;
      process.stderr.write(`${column}: ${row.id}\n`);
      const bar = row.barOf?.[column] ?? row.bar;
      const entry = { machine, column, size, result: await measureRow({ ...row, bar }, place, seconds) };
      process.stderr.write(`  ${cellsOf(entry.result).join('  ')}\n`);
      entries.push(entry);
      if (json !== undefined) await appendEntry(json, entry);
    }
  };
  /** Measures the selected benchmarks on a repository. Calls the slow `prepare` only if a benchmark is selected. */
  const measureRepository = async (name: string, prepare: () => Promise<Fixture>) => {
    const rows = rowsOf(ROWS_OF_REPOSITORY, name);
    if (rows.length === 0) return;
    const fixture = await prepare();
    await using resources = new Resources();
    const stage = await openStage(fixture, histories, resources.use);
    const megabytes = (fixture.packBytes / 2 ** 20).toFixed(1);
    await measure(name, rows, `${fixture.objects.toLocaleString('en')} objects, ${megabytes} MiB packed`, stage);
  };

  const service = { loadTime: Math.min(LOAD_TIME, seconds * 250) };
  await measure(SERVICE, rowsOf(ROWS_OF_SERVICE, SERVICE), '', service);
  for (const place of repositories) await measureRepository(place.name, () => copiedFixture(histories, place));
  for (const count of generated) {
    await measureRepository(generatedName(count), () => generatedFixture(histories, count));
  }
  return entries;
}

/** Throws an error with a message for the user if `path` is not a Git repository with a commit at HEAD. */
async function requireRepository(path: string): Promise<void> {
  const found = await git('.', ['--git-dir', path, 'rev-parse', '--verify', '-q', 'HEAD^{commit}']).catch(() => '');
  if (found === '') throw new Error(`--repo: ${path} is no Git repository with a commit at HEAD.`);
}

await runCommand(USAGE, async (argv) => main(parseBenchArguments(argv)));
