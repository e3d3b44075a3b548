import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Test } from 'tap';
import { type AuthenticationRequest, Authenticator, type Verified } from '../authenticate.js';
import { fixtureKeys, fixtureRing } from '../fixture-keys.js';
import { type AllowedScopes, algorithmOf, RegisteredKey } from '../keys.js';
import { type Check, Rejection } from '../rejection.js';

/** Time of all requests in these tests. The claims `GOOD` are valid at that time. */
export const NOW = Date.UTC(2026, 0, 1);
export const SECONDS = NOW / 1000;
export const REPO = 'team/app';
export const GOOD = { iss: 'demo', sub: 'tests', scopes: ['git:read'], repo: REPO, iat: SECONDS, exp: SECONDS + 3600 };

const fixtures = new Map(fixtureKeys().map((row) => [row.id, row]));
export const publicPem = (id: string) => readFileSync(fixtures.get(id)!.publicKeyFile, 'utf8');
export const privateKey = (id: string) => createPrivateKey(readFileSync(fixtures.get(id)!.privateKeyFile, 'utf8'));
/** Key rings of two organizations. Each contains the test keys of its organization. */
export const rings = new Map([
  ['demo', fixtureRing(0)],
  ['acme', fixtureRing(1)],
]);

export const encode = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

const HASHES: Record<string, string> = { ES256: 'sha256', ES384: 'sha384', ES512: 'sha512', RS256: 'sha256' };

/** Returns a raw JOSE signature. Does not use a JOSE library, because the tests check one. */
export function signed(input: string, alg: string, key: KeyObject): Buffer {
  return sign(HASHES[alg] ?? 'sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });
}

/**
 * Returns a signed token. Payload and header are values, or strings with literal JSON. `key` is a key, or the id of a
 * fixture key.
 */
export function forge(
  payload: unknown = GOOD,
  header: unknown = { alg: 'ES256', typ: 'JWT' },
  key: string | KeyObject = 'es256',
  alg = (header as { alg?: string }).alg ?? 'ES256',
): string {
  const input = `${encode(header)}.${encode(payload)}`;
  return `${input}.${signed(input, alg, typeof key === 'string' ? privateKey(key) : key).toString('base64url')}`;
}

export function request(token: string, changes: Partial<AuthenticationRequest> = {}): AuthenticationRequest {
  return {
    authorization: `Bearer ${token}`,
    surface: 'api',
    tenant: 'demo',
    now: NOW,
    hosting: true,
    variants: { tokenType: 'required', expNotAfterIat: 'rejected', missingExp: 'accepted' },
    ringOf: (organization) => rings.get(organization),
    ...changes,
  };
}

export const accept = (token: string, changes: Partial<AuthenticationRequest> = {}): Promise<Verified> =>
  new Authenticator().prove(request(token, changes));

/** Returns a registered key with the public key of the fixture `id`. */
export function registered(kid: string, id: string, allowedScopes: AllowedScopes = ['*']): RegisteredKey {
  const publicKey = createPublicKey(publicPem(id));
  return new RegisteredKey(kid, algorithmOf(publicKey)!, allowedScopes, () => publicKey);
}

/**
 * Asserts that exactly the check `check` refuses the token, and that the response has the specified code and no part of
 * the token.
 */
export async function denied(
  test: Test,
  token: string,
  check: Check,
  title: string,
  changes: Partial<AuthenticationRequest> = {},
): Promise<void> {
  const failure = await accept(token, changes).then(
    () => undefined,
    (error: unknown) => error,
  );
  test.ok(failure instanceof Rejection, `${title}: refused`);
  if (!(failure instanceof Rejection)) throw failure ?? new Error(`${title} was accepted`);
  test.equal(failure.check, check, title);
  if (failure.isInvalidToken) {
    test.match({ status: failure.status, code: failure.code }, { status: 403, code: 'forbidden' });
    test.match(failure.detail, /invalid or expired/);
  }
  for (const part of token.split('.')) {
    if (part.length > 4) test.notOk(failure.detail.includes(part), 'the detail does not repeat the token');
  }
}

/** Returns the name of the check that refuses the token. Undefined if all checks pass. */
export async function checkFailed(run: () => unknown): Promise<Check | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    if (error instanceof Rejection) return error.check;
    throw error;
  }
}
