import assert from 'node:assert/strict';
import test, { afterEach, describe, it } from 'node:test';
import { withEmulator } from 'repohost-emulator/node-test';

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

afterEach((t) => assert.ok(emulator.of(t).requests().length > 0, 'hooks find the namespace of their test'));

test('a test begins with nothing', async (t) => {
  assert.equal(emulator.org, 'acme');
  assert.equal(await create(), 201);
  await t.test('its subtests go on where it is', async (t) => {
    assert.equal(await create(), 409);
    await t.test('also those of subtests', async () => assert.equal(await create(), 409));
  });
});

test('and so does the next', async () => assert.equal(await create(), 201));

describe('a suite', () => {
  it('has tests', async () => assert.equal(await create(), 201));
  it('of which each begins with nothing', async () => assert.equal(await create(), 201));
});

describe('tests at the same time', { concurrency: true }, () => {
  for (const name of ['one', 'two', 'three']) {
    it(name, async (t) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.equal(await create(emulator.of(t)), 201);
    });
  }
});

describe('an emulator of a suite', () => {
  const own = withEmulator({ org: 'other' });
  it('is another one', async () => {
    assert.deepEqual([own.org, emulator.org], ['other', 'acme']);
    assert.deepEqual([await create(own), await create()], [201, 201]);
  });
});
