import { createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { lazy } from '../memory/lazy.js';
import { packageFile } from '../system/package-root.js';
import { type Algorithm, type AllowedScopes, KeyRing, RegisteredKey } from './keys.js';
import { thumbprintOf } from './public-key.js';

/** Test key whose private part is published with the emulator. Anyone can sign tokens with it. */
export interface FixtureKey {
  readonly id: string;
  readonly algorithm: Algorithm;
  /**
   * `first`: registered initially with the first organization of the emulator. `further`: registered with all others.
   */
  readonly organization: 'first' | 'further';
  readonly allowedScopes: AllowedScopes;
  readonly deleted: boolean;
  /** Absolute path of the file that contains the private key (PKCS#8 PEM). */
  readonly privateKeyFile: string;
  readonly publicKeyFile: string;
}

/** Row of the file `fixtures/keys/keys.json`, which lists the published test keys. */
type KeyRow = Pick<FixtureKey, 'id' | 'organization'> & {
  readonly file: string;
  readonly alg: Algorithm;
  readonly allowed_scopes: AllowedScopes;
  readonly deleted?: boolean;
};

/** Returns all published test keys, with the paths of their files. The table is read on the first call. */
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
 * Returns the test keys with which the organization with number `index` starts (0: the first organization). No other
 * organization has a key of the first one. A key file is read when the key first verifies a token.
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

/** Returns true if the key is a published test key, even if a client registered the key under another id. */
export function isFixtureKey(key: KeyObject): boolean {
  const thumbprint = thumbprintOf(key);
  return fixtureKeys().some(
    ({ publicKeyFile }) => thumbprintOf(createPublicKey(readFileSync(publicKeyFile))) === thumbprint,
  );
}

/**
 * Returns true if the key is restricted, which means that its tokens may have only certain scopes and a lifetime of at
 * most one hour.
 */
export function isRestricted({ allowedScopes }: FixtureKey): boolean {
  return allowedScopes[0] !== '*';
}

/**
 * Returns the key with which `emulator token` signs by default, and which the ready line (printed when the emulator has
 * started) names. The key is the first one of the first organization, or of the further ones if `index` is not 0.
 */
export function defaultFixtureKey(index = 0): FixtureKey {
  const place = index === 0 ? 'first' : 'further';
  return fixtureKeys().find((row) => row.organization === place)!;
}
