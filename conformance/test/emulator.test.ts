import t from 'tap';
import { run, startEmulator } from '../index.js';
import { explain } from '../reporters/reporter.js';

const emulator = await startEmulator();
t.teardown(() => emulator.stop());

const report = await run(emulator.target);

for (const result of report.rules) {
  const title = `${result.id}: ${result.says}`;
  if (result.verdict === 'skip') t.pass(title, { skip: result.reason ?? true });
  else if (['fail', 'error', 'flaky', 'blocked'].includes(result.verdict)) {
    t.fail(title, { verdict: result.verdict, why: explain(result), curl: result.curl ?? '' });
  } else t.pass(title);
}

t.equal(report.exit_code, 0, 'the emulator conforms');
