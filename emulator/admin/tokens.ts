import { z } from 'zod';
import { defaultFixtureKey, type FixtureKey, fixtureKeys } from '../auth/fixture-keys.js';
import { defaultLifetime, mintFixtureToken } from '../auth/fixture-token.js';
import { faultClaims } from '../faults/fault-claim.js';
import { problem } from '../http/problem.js';
import { json } from '../http/reply.js';
import { isoTime } from '../time/iso-8601.js';
import { adminRoute } from './route.js';

const MAX_FAULTS = 64;
const LONGEST_LIFETIME = 10 * 366 * 24 * 3600;

const mintedToken = z.object({
  token: z.string(),
  key: z.string(),
  issued_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
});

export type MintedToken = z.infer<typeof mintedToken>;

export const mintToken = adminRoute({
  method: 'POST',
  path: '/tokens',
  summary: 'Sign a token with a published test key, with the time of the emulator',
  body: z.strictObject({
    repo: z
      .string()
      .min(1)
      .optional()
      .meta({ description: 'Repository that the token covers; if absent, the token has no repo claim.' }),
    scopes: z.array(z.string()).min(1).max(64).optional(),
    ttl: z.int().min(1).max(LONGEST_LIFETIME).optional().meta({ description: 'Lifetime in seconds.' }),
    sub: z.string().optional(),
    org: z.string().optional().meta({ description: 'Organization; default: the one that Host selects.' }),
    key: z
      .string()
      .optional()
      .meta({ description: 'Id of a test key; default: the first test key of the organization.' }),
    faults: z
      .array(z.union([z.string().min(1), z.record(z.string(), z.unknown())]))
      .min(1)
      .max(MAX_FAULTS)
      .optional()
      .meta({ description: 'Each fault is text in the grammar of faults, or a fault in JSON.' }),
    scenario: z.string().min(1).optional(),
  }),
  replies: { 201: mintedToken },
  errors: ['conflict'],
  handle: async ({ world, controls, organization, operations, body }) => {
    if (!controls.hasTestKeys) {
      throw problem(
        'conflict',
        'The emulator cannot sign tokens, because it does not accept the test keys. Start it with --test-keys.',
      );
    }
    const { repo, scopes, sub, faults, scenario, org = organization } = body;
    const claims = faultClaims({ faults, scenario }, { where: 'faults', operations });
    const key = findKey(
      body.key,
      world.state.organizations.list().findIndex(({ name }) => name === org),
    );
    const now = world.state.clock.now();
    const ttl = body.ttl ?? defaultLifetime(key);
    const token = await mintFixtureToken(key, { org, now, ttl, repo, scopes, sub, claims });
    const issuedAt = Math.floor(now / 1000) * 1000;
    return json(201, {
      token,
      key: key.id,
      issued_at: isoTime(issuedAt),
      expires_at: isoTime(issuedAt + ttl * 1000),
    });
  },
});

/**
 * Returns the published test key with this id. If `id` is undefined, returns the default test key of the organization
 * at position `index`. `index` is -1 if the organization does not exist, for example in a test of a wrong `iss`.
 */
function findKey(id: string | undefined, index: number): FixtureKey {
  if (id === undefined) return defaultFixtureKey(Math.max(index, 0));
  const rows = fixtureKeys();
  const found = rows.find((row) => row.id === id);
  if (found) return found;
  throw problem('bad_request', `key must be the id of a test key: ${rows.map((row) => row.id).join(', ')}.`);
}
