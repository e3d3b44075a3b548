import assert from 'node:assert/strict';
import test from 'node:test';
import { withEmulator } from 'repohost-emulator/node-test';

const emulator = withEmulator();

test('a lost response is noticed', async () => {
  const headers = { authorization: `Bearer ${await emulator.token({ scopes: ['org:read'] })}` };
  emulator.fault('lost*1');
  await assert.rejects(fetch(`${emulator.baseUrl}/api/repos`, { headers }));
});
