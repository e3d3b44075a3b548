import { z } from 'zod';
import { isFixtureKey } from '../auth/fixture-keys.js';
import type { AllowedScopes, RegisteredKey } from '../auth/keys.js';
import { registeredKey } from '../auth/public-key.js';
import { SCOPES } from '../auth/scope.js';
import { problem } from '../http/problem.js';
import { empty, json } from '../http/reply.js';
import type { Organization } from '../world/organizations.js';
import type { World } from '../world/world.js';
import { listOf, listQuery, writeList } from './lists.js';
import { adminRoute, organizationName, requireFound } from './route.js';

/**
 * Maximum number of keys of one organization. The limit is needed because a token with an unknown `kid` is verified
 * with every key in turn.
 */
const MAX_KEYS = 100;

const keyRecord = z.object({
  id: z.string(),
  alg: z.enum(['ES256', 'ES384', 'ES512', 'RS256']),
  organization: z.string(),
  allowed_scopes: z.array(z.string()),
  public_key: z.string().meta({ description: 'PEM (SPKI).' }),
});

export type KeyRecord = z.infer<typeof keyRecord>;

function showKey(organization: string, key: RegisteredKey): KeyRecord {
  return {
    id: key.kid,
    alg: key.algorithm,
    organization,
    allowed_scopes: [...key.allowedScopes],
    public_key: key.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
}

function requireOrganization({ state }: World, name: string): Organization {
  return requireFound(state.organizations.get(name), 'organization', name);
}

export const listKeys = adminRoute({
  path: '/keys',
  summary: 'List the public keys of one organization or of all',
  query: z.strictObject({ ...listQuery, organization: z.string().optional() }),
  replies: { 200: listOf(keyRecord) },
  errors: ['not_found'],
  handle: (ctx) => {
    const { organization } = ctx.query;
    const organizations =
      organization === undefined
        ? ctx.world.state.organizations.list()
        : [requireOrganization(ctx.world, organization)];
    return writeList(ctx, {
      of: ['keys', organization],
      items: organizations.flatMap(({ name, keys }) => Array.from(keys.keys(), (key) => ({ name, key }))),
      keyOf: ({ name, key }) => `${name} ${key.kid}`,
      show: ({ name, key }) => showKey(name, key),
    });
  },
});

const allowedScopes = z
  .union(
    [z.tuple([z.literal('*')]), z.array(z.enum(SCOPES)).min(1).max(SCOPES.length)],
    `must be ["*"] or a list of ${SCOPES.join(', ')}`,
  )
  .transform((scopes) => scopes as AllowedScopes);

export const addKey = adminRoute({
  method: 'POST',
  path: '/keys',
  summary: 'Register a public key with an organization; of a private key, only the public part is kept',
  body: z.strictObject({
    public_key: z
      .union([z.string(), z.record(z.string(), z.unknown())], 'must be a key as PEM text, or as a JWK object')
      .meta({ description: 'PEM text, or a JWK.' }),
    id: z
      .string()
      .regex(/^[\x21-\x7e]{1,200}$/, 'must be a key id of 1 to 200 printable ASCII characters')
      .optional()
      .meta({ description: 'Id of the key, which tokens name in `kid`; default: its thumbprint (RFC 7638).' }),
    allowed_scopes: allowedScopes.optional(),
    organization: organizationName(),
  }),
  replies: { 201: keyRecord },
  errors: ['not_found', 'conflict', 'insufficient_storage'],
  handle: ({ world, organization, body, controls }) => {
    const { name, keys } = requireOrganization(world, body.organization ?? organization);
    const fields = { id: body.id, allowedScopes: body.allowed_scopes };
    const key = registeredKey(body.public_key, fields, (why) => problem('bad_request', `public_key ${why}`));
    if (controls.refusesTestKeys && isFixtureKey(key.publicKey)) {
      const detail =
        'public_key is a published test key, so anybody can sign with it. Start the emulator with --test-keys to allow it.';
      throw problem('bad_request', detail);
    }
    if (keys.find(key.kid))
      throw problem(
        'conflict',
        `id: the organization ${name} already has a key with the id ${JSON.stringify(key.kid)}. Choose another id.`,
      );
    if ([...keys.keys()].length >= MAX_KEYS) {
      throw problem(
        'insufficient_storage',
        `Key limit (${MAX_KEYS}) of the organization ${name} reached. Remove one with DELETE /_emulator/keys/ID.`,
      );
    }
    world.state.organizations.update(name, { keys: keys.with(key) });
    return json(201, showKey(name, key));
  },
});

export const removeKey = adminRoute({
  method: 'DELETE',
  path: '/keys/{id}',
  summary: 'Remove a key from an organization; tokens signed with it are refused from now on',
  query: z.strictObject({ organization: organizationName() }),
  replies: { 204: '' },
  handle: ({ world, organization, query, params }) => {
    const { name, keys } = requireOrganization(world, query.organization ?? organization);
    if (!keys.find(params.id!))
      throw problem('not_found', `The organization ${name} has no key with the id ${JSON.stringify(params.id)}.`);
    world.state.organizations.update(name, { keys: keys.without(params.id!) });
    return empty(204);
  },
});
