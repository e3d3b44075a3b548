import { withEmulator } from 'repohost-emulator/tap';
import t from 'tap';

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

t.test('a test begins with nothing', async (t) => {
  t.equal(emulator.org, 'acme');
  t.equal(await create(), 201);
  await t.test('its subtests go on where it is', async (t) => {
    t.equal(await create(), 409);
    await t.test('also those of subtests', async (t) => t.equal(await create(), 409));
  });
});

t.test('and so does the next', async (t) => t.equal(await create(), 201));

t.test('the one after that too', async (t) => t.equal(await create(), 201));

t.jobs = 3;
for (const name of ['one', 'two', 'three']) {
  t.test(`at the same time: ${name}`, { buffered: true }, async (t) => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    t.equal(await create(emulator.of(t)), 201);
  });
}
