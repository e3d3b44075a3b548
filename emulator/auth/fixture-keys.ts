import { createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { lazy } from '../memory/lazy.js';
import { packageFile } from '../system/package-root.js';
import { type Algorithm, type AllowedScopes, KeyRing, RegisteredKey } from './keys.js';
import { thumbprintOf } from './public-key.js';

/** Published test key. Anyone can sign with it. */
export interface FixtureKey {
  readonly id: string;
  readonly algorithm: Algorithm;
  /** `first`: registered with the first organization. `further`: registered with all others. */
  readonly organization: 'first' | 'further';
  readonly allowedScopes: AllowedScopes;
  readonly deleted: boolean;
  /** Absolute path of the private key (PKCS#8 PEM). */
  readonly privateKeyFile: string;
  readonly publicKeyFile: string;
}

/** Row of `fixtures/keys/keys.json`. */
type KeyRow = Pick<FixtureKey, 'id' | 'organization'> & {
  readonly file: string;
  readonly alg: Algorithm;
  readonly allowed_scopes: AllowedScopes;
  readonly deleted?: boolean;
};

/** All published test keys. */
export const fixtureKeys = lazy((): readonly FixtureKey[] => {
  const table = packageFile('fixtures', 'keys', 'keys.json');
  const rows: KeyRow[] = JSON.parse(readFileSync(table, 'utf8'));
  const folder = dirname(table);
  return rows.map(({ file, alg: algorithm, allowed_scopes: allowedScopes, deleted = false, ...row }) => ({
    ...row,
    algorithm,
    allowedScopes,
    deleted,
    privateKeyFile: resolve(folder, file),
    publicKeyFile: resolve(folder, file.replace(/\.pem$/, '.pub.pem')),
  }));
});

/**
 * Returns the initial test keys of the organization with number `index` (0: the first). No organization shares a key
 * with the first. Key files are read when a token needs them.
 */
export function fixtureRing(index: number): KeyRing {
  const place = index === 0 ? 'first' : 'further';
  return new KeyRing(
    fixtureKeys()
      .filter((row) => row.organization === place && !row.deleted)
      .map(({ id: kid, algorithm, allowedScopes, publicKeyFile }) => {
        return new RegisteredKey(kid, algorithm, allowedScopes, () => createPublicKey(readFileSync(publicKeyFile)));
      }),
  );
}

/** Returns true if the key is a published test key, also under another id. */
export function isFixtureKey(key: KeyObject): boolean {
  const thumbprint = thumbprintOf(key);
  return fixtureKeys().some(
    ({ publicKeyFile }) => thumbprintOf(createPublicKey(readFileSync(publicKeyFile))) === thumbprint,
  );
}

/** Returns true if tokens of the key may have only some scopes and a lifetime of at most one hour. */
export function isRestricted({ allowedScopes }: FixtureKey): boolean {
  return allowedScopes[0] !== '*';
}

/**
 * Returns the default key of `emulator token` and the ready line: the first one of the first or a further organization.
 */
export function defaultFixtureKey(index = 0): FixtureKey {
  const place = index === 0 ? 'first' : 'further';
  return fixtureKeys().find((row) => row.organization === place)!;
}
