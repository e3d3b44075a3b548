import { existsSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { batchesOf } from './batches.js';
import { drawFiles } from './draw.js';
import { runTestFiles } from './test-file.js';
import { missingTools, sourceOf, TOOLS, toolsOf } from './tools.js';

// node dist/emulator/test/runner/all.js [--jobs N] [--rest] [part of a path …]
//
// Runs compiled test files in child processes. Runs the files whose path contains one of the given parts. Without
// parts, the seed TEST_SEED selects the files. With --rest, runs the files that the seed did not select.

const FOLDER = fileURLToPath(new URL('../../../', import.meta.url));
/**
 * Time limit in milliseconds of a process that runs test files. It is `first` for the first file, plus `further` for
 * each other file.
 */
const TIMEOUT = { first: 300_000, further: 120_000 };

const { values, positionals } = parseArgs({
  options: { jobs: { type: 'string' }, rest: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const jobs = Number(values.jobs ?? availableParallelism() + 1);

// Pass the seed to the child processes in the environment, so that all test files draw their samples with it.
const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 32));
process.env.TEST_SEED = String(seed);

// Start with the last names in alphabetical order. They are tests of several folders together, which take longest.
// Starting them first keeps all CPU cores busy until the end.
const found = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.js'))
  // Leave out compiled files without a source. The compiler does not delete them when a test file is removed or
  // renamed.
  .filter((file) => existsSync(sourceOf(join(FOLDER, file))))
  .filter((file) => positionals.length === 0 || positionals.some((part) => join('dist', file).includes(part)))
  .sort()
  .reverse();

const files = selectFiles();

/** Selects test files by command line and seed. Without arguments, the seed draws a part of the slow test files. */
function selectFiles(): string[] {
  if (positionals.length > 0 && !values.rest) return found;
  const drawn = new Set(drawFiles(found, seed));
  if (!values.rest) return found.filter((file) => drawn.has(file));
  return found.filter((file) => !drawn.has(file));
}

const missing = missingTools();
if (positionals.length === 0) {
  const names = TOOLS.map(({ name }) => name).join(', ');
  console.log(`${files.length} of ${found.length} test files, drawn by TEST_SEED=${seed}; they use ${names}.`);
  if (!values.rest) console.log('This takes some 5 minutes on two cores. `.ci/run` runs the other test files as well.');
}
if (missing.length > 0) {
  console.log(`Not installed: ${missing.map(({ name }) => name).join(', ')}. Tests that need them are skipped.`);
  console.log(`To install them: apt-get install ${missing.map(({ debian }) => debian).join(' ')}`);
}

let [passed, failed, skipped] = [0, 0, 0];
for (const part of positionals) {
  if (found.some((file) => join('dist', file).includes(part))) continue;
  failed++;
  console.log(`No test file has ${JSON.stringify(part)} in its path.`);
}
const runnable: string[] = [];
for (const file of files) {
  const needed = toolsOf(join(FOLDER, file));
  const absent = missing.filter(({ name }) => needed.has(name));
  if (absent.length === 0) {
    runnable.push(file);
    continue;
  }
  skipped++;
  console.log(`skipped ${join('dist', file)}: needs ${absent.map(({ name }) => name).join(', ')}`);
}

const queue = batchesOf(FOLDER, runnable).values();
async function work(): Promise<void> {
  for (const batch of queue) {
    const started = performance.now();
    const timeout = TIMEOUT.first + TIMEOUT.further * (batch.length - 1);
    const outcome = await runTestFiles(
      batch.map((file) => join(FOLDER, file)),
      { timeout },
    );
    passed += outcome.passed;
    failed += outcome.failed;
    skipped += outcome.skipped.length;
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const name = relative('.', join(FOLDER, batch.length === 1 ? batch[0]! : dirname(batch[0]!)));
    const count = batch.length === 1 ? '' : `/ (${batch.length} files)`;
    console.log(`${outcome.isPassed ? 'ok' : 'not ok'} ${name}${count}  ${outcome.passed} passed, ${seconds} s`);
    for (const skip of outcome.skipped) console.log(`  skipped: ${skip}`);
    if (outcome.isPassed) continue;
    // Remove passed assertions, plans and blank lines from the TAP output. A file can have thousands of them.
    console.log(outcome.output.replace(/^ *(ok \d+\b.*|\d+\.\.\d+)?\n/gm, ''));
    if (outcome.isTimedOut) console.log(`Killed after ${timeout / 1000} s.`);
  }
}
await Promise.all(Array.from({ length: jobs }, work));
if (files.length === 0) failed++;
process.exitCode = failed === 0 ? 0 : 1;
console.log(`${skipped} skipped`);
console.log(`${passed} passed, ${failed} failed`);
