const { withEmulator } = require('repohost-emulator/jest');

const emulator = withEmulator();

test('a lost response is noticed', async () => {
  const headers = { authorization: `Bearer ${await emulator.token({ scopes: ['org:read'] })}` };
  emulator.fault('lost*1');
  await expect(fetch(`${emulator.baseUrl}/api/repos`, { headers })).rejects.toThrow();
});
