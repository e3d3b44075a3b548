const { withEmulator } = require('repohost-emulator/jest');

const emulator = withEmulator();

test.concurrent.each(['one', 'two'])('%s', async () => {
  await new Promise(setImmediate);
  await fetch(emulator.baseUrl);
});

test.concurrent('a concurrent test that asks for nothing', async () => {});

test('a test in order', async () => {
  expect((await fetch(`${emulator.baseUrl}/api/repos`)).status).toBe(401);
});

describe('inside a block', () => {
  const inner = withEmulator();

  test.concurrent('three', async () => {
    await fetch(inner.baseUrl);
  });

  test('another test in order', async () => {
    expect((await fetch(`${inner.baseUrl}/api/repos`)).status).toBe(401);
  });
});
