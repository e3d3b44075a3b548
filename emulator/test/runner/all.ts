import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runTestFile } from './test-file.js';

// node dist/emulator/test/runner/all.js [--jobs N] [part of a path …]

const FOLDER = fileURLToPath(new URL('../../../', import.meta.url));
const TIMEOUT = 300_000;

const { values, positionals } = parseArgs({ options: { jobs: { type: 'string' } }, allowPositionals: true });
const jobs = Number(values.jobs ?? availableParallelism());

// Stories take longest and stand last in the order of names: turned round, no core waits for one at the end.
const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.js'))
  .filter((file) => positionals.length === 0 || positionals.some((part) => join('dist', file).includes(part)))
  .sort()
  .reverse();

let [passed, failed] = [0, 0];
const queue = files.values();
async function work(): Promise<void> {
  for (const file of queue) {
    const started = performance.now();
    const outcome = await runTestFile(join(FOLDER, file), { timeout: TIMEOUT });
    passed += outcome.passed;
    failed += outcome.failed;
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const name = relative('.', join(FOLDER, file));
    console.log(`${outcome.isPassed ? 'ok' : 'not ok'} ${name}  ${outcome.passed} passed, ${seconds} s`);
    for (const skip of outcome.skipped) console.log(`  skipped: ${skip}`);
    if (!outcome.isPassed) console.log(`${outcome.output}${outcome.isTimedOut ? 'It was killed: too slow.\n' : ''}`);
  }
}
await Promise.all(Array.from({ length: jobs }, work));
if (files.length === 0) failed++;
process.exitCode = failed === 0 ? 0 : 1;
console.log(`${passed} passed, ${failed} failed`);
