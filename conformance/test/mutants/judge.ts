import { spawn } from 'node:child_process';
import { run } from '../../index.js';
import { START_ARGUMENTS, superviseEmulator } from '../../run/emulator-process.js';

// node judge.js SCRIPT
//
// Starts an emulator with the main module SCRIPT, and checks it with the complete suite. Exits with 0 if no rule is
// broken. Otherwise exits with 1, and prints the id of the first broken rule on the first line.
//
// `npm run mutation -- --by conformance` calls this program for each change of the emulator's code.

const [script = ''] = process.argv.slice(2);

/** Maximum time in milliseconds to wait for one response. Short, because some changed emulators never respond. */
const TIMEOUT = 5000;

try {
  const child = spawn(process.execPath, [script, ...START_ARGUMENTS], { stdio: ['ignore', 'pipe', 'pipe'] });
  const emulator = await superviseEmulator(child);
  try {
    const report = await run(emulator.target, { timeout: TIMEOUT });
    const broken = report.rules.find(({ verdict }) => ['fail', 'warn', 'error', 'flaky'].includes(verdict));
    const isNoticed = broken !== undefined || report.exit_code !== 0;
    if (isNoticed) console.log(broken?.id ?? report.setup?.[0]?.name ?? `exit code ${report.exit_code}`);
    process.exitCode = isNoticed ? 1 : 0;
  } finally {
    await emulator.close();
  }
} catch (error) {
  console.log(`start: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
