import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSigner } from '../auth/tokens.js';
import { run, startTargetEmulator } from '../index.js';
import { recordRequests } from '../run/budget.js';
import { packageRoot } from '../target/package-root.js';

/** Writes `fixtures/rule-requests.json`, which has the number of requests that each rule sends to the emulator. */
const emulator = await startTargetEmulator();
try {
  const { target } = emulator;
  const writing = await run(target);
  const repo = 'reading';
  const authorization = `Bearer ${createSigner(target, Date.now).sign({ repo, scopes: ['repo:write'] })}`;
  await fetch(`${target.baseUrl}/api/repos`, { method: 'POST', headers: { authorization } });
  const reading = await run({ ...target, repo, write: false });
  const file = join(packageRoot(), 'fixtures', 'rule-requests.json');
  writeFileSync(file, `${JSON.stringify(recordRequests(writing, reading), undefined, 1)}\n`);
} finally {
  await emulator.close();
}
