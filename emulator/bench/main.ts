import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BenchOptions, parseBenchArguments, USAGE } from './arguments.js';
import { copiedFixture, type Fixture, generatedFixture } from './fixture.js';
import { git } from './native-git.js';
import { emptyRoundTrip } from './round-trip.js';
import { measureRow, type Result, type Row } from './row.js';
import { API_ROWS } from './rows/api.js';
import { CLIENT_ROWS } from './rows/client.js';
import { CONFORMANCE_ROWS } from './rows/conformance.js';
import { ENGINE_ROWS } from './rows/engine.js';
import { SERVICE_ROWS } from './rows/service.js';
import { WIRE_ROWS } from './rows/wire.js';
import { WORLD_ROWS } from './rows/worlds.js';
import { openStage, type Stage } from './stage.js';
import { shorten, writeGrowthTable, writeTable } from './table.js';

/** One table: what was measured on, and what came out. */
interface Section {
  readonly label: string;
  readonly results: readonly Result[];
}

const SIZES = { usual: 4000, quick: 1000, growth: [1000, 4000, 100_000] } as const;
const FIXTURE_ROWS: readonly Row<Stage>[] = [...WIRE_ROWS, ...ENGINE_ROWS, ...CLIENT_ROWS, ...API_ROWS];

async function main(options: BenchOptions): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'emulator-bench-'));
  const histories = options.work ?? folder;
  await mkdir(histories, { recursive: true });
  try {
    print(`Node ${process.version}, ${await git('.', ['--version'])}, ${cpus().length} × ${cpus()[0]?.model ?? '?'}\n`);
    print(`An empty round trip to bare node:http takes ${shorten(await emptyRoundTrip())} ms.\n`);
    const sections: Section[] = [];
    for await (const section of options.growth
      ? growth(histories, folder, options)
      : usual(histories, folder, options)) {
      if (section.results.length === 0) continue;
      print(`\n### ${section.label}\n\n${writeTable(section.results)}`);
      sections.push(section);
    }
    if (options.growth) print(`\n### Growth: ours / peer\n\n${writeGrowthTable(sections)}`);
    if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(sections, undefined, 2)}\n`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function* usual(histories: string, folder: string, options: BenchOptions): AsyncGenerator<Section> {
  const { isQuick, repo } = options;
  const place = { folder, loadTime: isQuick ? 500 : 2000, heavyFiles: 300 };
  const rows = [...SERVICE_ROWS, ...WORLD_ROWS, ...CONFORMANCE_ROWS];
  yield { label: 'The service', results: await measure(rows, () => Promise.resolve(place), options) };
  const commits = isQuick ? SIZES.quick : SIZES.usual;
  yield* measureFixture(() => generatedFixture(histories, commits), folder, options);
  if (repo !== undefined) yield* measureFixture(() => copiedFixture(folder, repo), folder, options);
}

async function* growth(histories: string, folder: string, options: BenchOptions): AsyncGenerator<Section> {
  for (const commits of SIZES.growth)
    yield* measureFixture(() => generatedFixture(histories, commits), folder, options);
}

async function* measureFixture(
  prepare: () => Promise<Fixture>,
  folder: string,
  options: BenchOptions,
): AsyncGenerator<Section> {
  let label = '';
  let stage: Stage | undefined;
  try {
    const results = await measure(
      FIXTURE_ROWS,
      async () => {
        const fixture = await prepare();
        label = `${fixture.label}: ${fixture.objects.toLocaleString('en')} objects, ${mebibytes(fixture.packBytes)} packed`;
        stage ??= await openStage(fixture, await mkdtemp(join(folder, 'stage-')));
        return stage;
      },
      options,
    );
    yield { label, results };
  } finally {
    await stage?.[Symbol.asyncDispose]();
  }
}

/** Measures the rows that were asked for. The place is made ready only if there are any. */
async function measure<Place>(
  rows: readonly Row<Place>[],
  open: () => Promise<Place>,
  { only, rounds }: BenchOptions,
): Promise<Result[]> {
  const asked = rows.filter(({ id }) => !only || only.test(id));
  const results: Result[] = [];
  if (asked.length === 0) return results;
  const place = await open();
  for (const row of asked) {
    process.stderr.write(`${row.id}\n`);
    results.push(await measureRow(row, place, rounds));
  }
  return results;
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
  process.stderr.write(`${(error as Error).stack}\n`);
  process.exitCode = 2;
}
