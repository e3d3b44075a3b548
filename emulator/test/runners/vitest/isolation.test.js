import { withEmulator } from 'repohost-emulator/vitest';
import { afterEach, describe, expect, test } from 'vitest';

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

describe('one after the other', () => {
  afterEach(() => expect(emulator.requests()).toHaveLength(1));
  test('a test begins with nothing', async () => {
    expect(emulator.org).toBe('acme');
    expect(await create()).toBe(201);
  });
  test('and so does the next', async () => expect(await create()).toBe(201));
});

describe('tests at the same time', () => {
  test.concurrent.each(['one', 'two'])('%s of each', async () => {});
  for (const name of ['one', 'two', 'three']) {
    test.concurrent(name, async (context) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(await create(emulator.of(context))).toBe(201);
    });
  }
});

test.extend({ repository: async ({ task }, use) => use(await create(emulator.of({ task }))) })(
  'a fixture of a test',
  ({ repository }) => expect(repository).toBe(201),
);
