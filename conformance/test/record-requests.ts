import { createSigner } from '../auth/tokens.js';
import { run, startTargetEmulator } from '../index.js';
import { recordRequests } from '../run/budget.js';

/** Prints `fixtures/rule-requests.json`: the number of requests that each rule sends to the emulator. */
const emulator = await startTargetEmulator();
try {
  const { target } = emulator;
  const writing = await run(target);
  const repo = 'reading';
  const authorization = `Bearer ${createSigner(target, Date.now).sign({ repo, scopes: ['repo:write'] })}`;
  await fetch(`${target.baseUrl}/api/repos`, { method: 'POST', headers: { authorization } });
  const reading = await run({ ...target, repo, write: false });
  process.stdout.write(`${JSON.stringify(recordRequests(writing, reading), undefined, 1)}\n`);
} finally {
  await emulator.close();
}
