import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { admin } from './admin-request.js';
import { ask } from './api-request.js';
import { type Started, startEmulator } from './browser.js';
import { makeRepository } from './git.js';
import { mint } from './token.js';

/** Repository name of the maximum length. It takes two lines on a narrow screen. */
export const LONG_NAME = 'payments-and-settlements/reconciliation-service-production-eu';

export const CLOCK = '2026-01-01T00:00:00Z';

/** Starts an emulator with content for every part of the web page, so that no part is empty. */
export async function startStocked(t: Test): Promise<Started> {
  return stock(t, await startEmulator(t, { clock: CLOCK }));
}

/** Adds content for every part of the web page to an emulator. Returns the emulator. */
export async function stock<T extends Started>(t: Test, emulator: T): Promise<T> {
  const { git, remote, folder } = await makeRepository(t, emulator, 'team/app');
  for (const name of [LONG_NAME, 'constructor']) await admin(emulator, 'POST', 'repositories', { name });
  const token = await mint(emulator, { repo: 'team/app', scopes: ['git:read', 'git:write', 'repo:write'], sub: 'ada' });
  const url = 'http://127.0.0.1:1/hook';
  await ask(emulator, token, 'POST', '/api/v1/webhooks', { url, events: ['push'] });
  for (let n = 0; n < 40; n++) {
    await writeFile(join(folder, 'a.txt'), `${'a long line of a file '.repeat(20)}\n`.repeat(60 + n));
    await git(['add', '.']);
    await git([
      'commit',
      '--quiet',
      '-m',
      `Change ${n}${n === 39 ? `\n\n${'A line of the message.\n'.repeat(60)}` : ''}`,
    ]);
  }
  await git(['tag', '-a', '-m', 'First', 'v1']);
  await git(['notes', 'add', '-m', 'Seen in production']);
  await git(['push', '--quiet', remote(), 'main', 'v1', 'refs/notes/commits']);
  for (let n = 0; n < 60; n++) await ask(emulator, token, 'GET', `/api/v1/repos/file?path=gone-${n}`);
  await admin(emulator, 'POST', 'faults', { spec: 'rate_limited*2;retry-after=60', match: { op: 'getRepository' } });
  for (let n = 0; n < 2; n++) await ask(emulator, token, 'GET', '/api/v1/repo');
  await admin(emulator, 'PATCH', 'quotas', { quotas: { slow: { capacity: 5_000, refill: '10/s' } } });
  await admin(emulator, 'POST', 'snapshots', {});
  await admin(emulator, 'POST', 'namespaces', {});
  const { items } = await admin(emulator, 'GET', 'shipped-scenarios');
  await admin(emulator, 'POST', 'scenarios', items[0].definition);
  return emulator;
}
