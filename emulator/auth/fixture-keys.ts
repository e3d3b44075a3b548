import { createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { lazy } from '../memory/lazy.js';
import { packageFile } from '../system/package-root.js';
import { type Algorithm, type AllowedScopes, KeyRing, RegisteredKey } from './keys.js';
import { thumbprintOf } from './public-key.js';

/** Published test key. Anyone can sign tokens with it, because its private part is published too. */
export interface FixtureKey {
  readonly id: string;
  readonly algorithm: Algorithm;
  /**
   * Organizations that start with the key. `first` is the first organization of the emulator; `further` means all other
   * organizations.
   */
  readonly organization: 'first' | 'further';
  readonly allowedScopes: AllowedScopes;
  readonly deleted: boolean;
  /** Absolute path of the file that contains the private key (PKCS#8 PEM). */
  readonly privateKeyFile: string;
  readonly publicKeyFile: string;
}

/** Row of `fixtures/keys/keys.json`, the list of the published test keys. */
type KeyRow = Pick<FixtureKey, 'id' | 'organization'> & {
  readonly file: string;
  readonly alg: Algorithm;
  readonly allowed_scopes: AllowedScopes;
  readonly deleted?: boolean;
};

/** Returns all published test keys, with the paths of their files. The list is read at the first call. */
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
 * Returns the test keys with which an organization starts. `index` is the number of the organization; 0 is the first.
 * The first organization shares no key with the others. A key file is read when the key first verifies a token.
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

/** Returns true if the key is a published test key, even if it was registered under another id. */
export function isFixtureKey(key: KeyObject): boolean {
  const thumbprint = thumbprintOf(key);
  return fixtureKeys().some(
    ({ publicKeyFile }) => thumbprintOf(createPublicKey(readFileSync(publicKeyFile))) === thumbprint,
  );
}

/**
 * Returns true if the key is restricted. Tokens of a restricted key may have only certain scopes and live at most one
 * hour.
 */
export function isRestricted({ allowedScopes }: FixtureKey): boolean {
  return allowedScopes[0] !== '*';
}

/**
 * Returns the default test key of an organization: the first key in its list. `index` is the number of the
 * organization; 0 is the first. `emulator token` signs with this key, and the ready line (printed at the start) names
 * the key of organization 0.
 */
export function defaultFixtureKey(index = 0): FixtureKey {
  const place = index === 0 ? 'first' : 'further';
  return fixtureKeys().find((row) => row.organization === place)!;
}
