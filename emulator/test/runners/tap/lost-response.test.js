import { withEmulator } from 'repohost-emulator/tap';
import t from 'tap';

const emulator = withEmulator();

t.test('a lost response is noticed', async (t) => {
  const headers = { authorization: `Bearer ${await emulator.token({ scopes: ['org:read'] })}` };
  emulator.fault('lost*1');
  await t.rejects(fetch(`${emulator.baseUrl}/api/repos`, { headers }));
});
