import { spawn } from 'node:child_process';
import { type RuleResult, run } from '../../index.js';
import { START_ARGUMENTS, superviseEmulator } from '../../run/emulator-process.js';

// node judge.js SCRIPT
//
// Starts the emulator whose main module is SCRIPT and checks it with the suite, until a rule is broken. Exits with 0 if
// the complete suite notices nothing, otherwise with 1. The first line of the output is then the id of that rule.
// `npm run mutation -- --by conformance` calls this program for each change of the emulator's code.

const [script = ''] = process.argv.slice(2);

/** Maximum time in milliseconds to wait for one response. Short, because some changed emulators never respond. */
const TIMEOUT = 5000;

try {
  const child = spawn(process.execPath, [script, ...START_ARGUMENTS], { stdio: ['ignore', 'pipe', 'pipe'] });
  const emulator = await superviseEmulator(child);
  try {
    const end = new AbortController();
    let broken: RuleResult | undefined;
    const onResult = (result: RuleResult) => {
      if (broken !== undefined || !['fail', 'warn', 'error', 'flaky'].includes(result.verdict)) return;
      broken = result;
      end.abort();
    };
    const report = await run(emulator.target, { timeout: TIMEOUT, signal: end.signal, onResult });
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
