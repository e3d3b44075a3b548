import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BenchOptions, parseBenchArguments, USAGE } from './arguments.js';
import { FIGURES, writePart } from './document.js';
import { copiedFixture, type Fixture, generatedFixture, generatedName } from './fixture.js';
import { git, requireRepository } from './native-git.js';
import { appendEntry, type Entry, keyOf, readEntries, SERVICE } from './results-file.js';
import { emptyRoundTrip } from './round-trip.js';
import { measureRow, type Row } from './row.js';
import { ROWS_OF_REPOSITORY, ROWS_OF_SERVICE } from './rows/index.js';
import { openStage, type Stage } from './stage.js';
import { shorten, writeReport, writeTable } from './table.js';

async function main(options: BenchOptions): Promise<void> {
  const entries: Entry[] = [];
  if (options.join.length > 0) {
    for (const file of options.join) entries.push(...(await readEntries(file)));
  } else {
    for (const { path } of options.repositories) await requireRepository('--repo', path);
    await measureAll(options, entries);
  }
  const report = writeReport(entries, [...ROWS_OF_SERVICE, ...ROWS_OF_REPOSITORY]);
  print(`\n${report}`);
  if (options.writes) await writePart(FIGURES, report);
}

async function measureAll(options: BenchOptions, entries: Entry[]): Promise<void> {
  if (options.resumes && existsSync(options.json!)) entries.push(...(await readEntries(options.json!)));
  const folder = await mkdtemp(join(tmpdir(), 'emulator-bench-'));
  const histories = options.work ?? folder;
  await mkdir(histories, { recursive: true });
  const bench = new Bench(options, folder, histories, await machineFacts(), entries);
  try {
    print(`${bench.machine}\nAn empty round trip to bare node:http takes ${shorten(await emptyRoundTrip())} ms.\n`);
    await bench.measureService();
    for (const place of options.repositories) {
      await bench.measureRepository(place.name, () => copiedFixture(histories, place));
    }
    for (const commits of options.generated) {
      await bench.measureRepository(generatedName(commits), () => generatedFixture(histories, commits));
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function machineFacts(): Promise<string> {
  const model = cpus()[0]?.model ?? 'of an unknown kind';
  return `${cpus().length} cores (${model}), Node ${process.version}, ${await git('.', ['--version'])}`;
}

/** One run: what is asked for, and what came out so far. */
class Bench {
  readonly #done: ReadonlySet<string>;

  constructor(
    private readonly options: BenchOptions,
    private readonly folder: string,
    private readonly histories: string,
    readonly machine: string,
    private readonly entries: Entry[],
  ) {
    this.#done = new Set(entries.map(({ column, result }) => keyOf(column, result.id)));
  }

  async measureService(): Promise<void> {
    const place = { folder: this.folder, loadTime: this.options.isQuick ? 500 : 2000, heavyFiles: 300 };
    await this.#measure(SERVICE, this.#asked(ROWS_OF_SERVICE, SERVICE), '', place);
  }

  /** The repository is made ready only if a row of it is asked for. */
  async measureRepository(name: string, prepare: () => Promise<Fixture>): Promise<void> {
    const rows = this.#asked(ROWS_OF_REPOSITORY, name);
    if (rows.length === 0) return;
    const fixture = await prepare();
    await using stage: Stage = await openStage(fixture, await mkdtemp(join(this.folder, 'stage-')), this.histories);
    const size = `${fixture.objects.toLocaleString('en')} objects, ${mebibytes(fixture.packBytes)} packed`;
    await this.#measure(name, rows, size, stage);
  }

  #asked<Place>(rows: readonly Row<Place>[], column: string): Row<Place>[] {
    const { only } = this.options;
    return rows.filter(({ id }) => (!only || only.test(id)) && !this.#done.has(keyOf(column, id)));
  }

  async #measure<Place>(column: string, rows: readonly Row<Place>[], size: string, place: Place): Promise<void> {
    const start = this.entries.length;
    for (const row of rows) {
      if (row.isFor?.(place) === false) continue;
      process.stderr.write(`${column}: ${row.id}\n`);
      const bar = row.barOf?.[column] ?? row.bar;
      const result = await measureRow({ ...row, bar }, place, this.options);
      const entry = { machine: this.machine, column, size, result };
      this.entries.push(entry);
      if (this.options.json !== undefined) await appendEntry(this.options.json, entry);
    }
    if (this.entries.length === start) return;
    const label = size === '' ? column : `${column}: ${size}`;
    print(`\n### ${label}\n\n${writeTable(this.entries.slice(start).map(({ result }) => result))}`);
  }
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

function print(text: string): void {
  process.stdout.write(text);
}

try {
  const options = parseBenchArguments(process.argv.slice(2));
  if (options === 'help') print(USAGE);
  else await main(options);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 2;
}
