import { readFile } from 'node:fs/promises';
import { type FixtureKey, isRestricted } from './fixture-keys.js';
import { RESTRICTED_LIFETIME } from './keys.js';
import { DEFAULT_LIFETIME, DEFAULT_SCOPES, mintToken, type TokenRequest } from './mint.js';

/**
 * Returns the default scopes of a token that `key` signs: `DEFAULT_SCOPES` without scopes that the key does not permit.
 */
export function defaultScopes(key: FixtureKey | undefined): readonly string[] {
  if (!key || !isRestricted(key)) return DEFAULT_SCOPES;
  const allowed: readonly string[] = key.allowedScopes;
  return DEFAULT_SCOPES.filter((scope) => allowed.includes(scope));
}

export function defaultLifetime(key: FixtureKey | undefined): number {
  return key && isRestricted(key) ? RESTRICTED_LIFETIME : DEFAULT_LIFETIME;
}

/** Signs a token with a published test key. The token's header `kid` is the id of the key. */
export async function mintFixtureToken(
  key: FixtureKey,
  { scopes = defaultScopes(key), ttl = defaultLifetime(key), ...request }: Omit<TokenRequest, 'privateKeyPem' | 'kid'>,
): Promise<string> {
  const privateKeyPem = await readFile(key.privateKeyFile, 'utf8');
  return mintToken({ ...request, scopes, ttl, kid: key.id, privateKeyPem });
}
