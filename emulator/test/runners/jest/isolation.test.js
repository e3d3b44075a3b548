const { startEmulator } = require('repohost-emulator');
const { run } = require('repohost-emulator/conformance');
const { withEmulator } = require('repohost-emulator/jest');

const emulator = withEmulator({ org: ['acme'], clock: '2026-01-01T00:00:00Z' });

/**
 * Creates the repository `app`, which has the same name in every test. Returns the HTTP status: 201, or 409 if the
 * repository exists already in the emulator that the test uses.
 */
async function create(world = emulator) {
  const headers = { authorization: `Bearer ${await world.token({ repo: 'app', scopes: ['repo:write'] })}` };
  const { status } = await fetch(`${world.baseUrl}/api/repos`, { method: 'POST', headers, body: '{}' });
  return status;
}

afterEach(() => expect(emulator.requests()).toHaveLength(1));

test('a test begins with nothing', async () => {
  expect(emulator.org).toBe('acme');
  expect(await create()).toBe(201);
});

describe('a suite', () => {
  test('has tests that begin so too', async () => expect(await create()).toBe(201));
});

test('an emulator without the hooks, and the conformance suite', async () => {
  expect(await create()).toBe(201);
  const own = await startEmulator({ port: 0 });
  expect(await create(own)).toBe(201);
  await own.close({ graceMs: 0 });
  expect(typeof run).toBe('function');
});
