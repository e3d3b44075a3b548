import { run, startEmulator } from '../index.js';
import { recordRequests } from '../run/budget.js';

/** Prints `fixtures/rule-requests.json`: how much each rule asks of the emulator. */
const emulator = await startEmulator();
try {
  process.stdout.write(`${JSON.stringify(recordRequests(await run(emulator.target)), undefined, 1)}\n`);
} finally {
  await emulator.stop();
}
