import { createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { lazy } from '../memory/lazy.js';
import { packageFile } from '../system/package-root.js';
import { type Algorithm, type AllowedScopes, KeyRing, RegisteredKey } from './keys.js';
import { thumbprintOf } from './public-key.js';

/** A published test key: anyone can sign with it. */
export interface FixtureKey {
  readonly id: string;
  readonly algorithm: Algorithm;
  /** `first`: registered with the first organization. `further`: with every other one. */
  readonly organization: 'first' | 'further';
  readonly allowedScopes: AllowedScopes;
  readonly deleted: boolean;
  /** Absolute path of the private key, PKCS#8 PEM. */
  readonly privateKeyFile: string;
  readonly publicKeyFile: string;
}

/** A row of `fixtures/keys/keys.json`. */
type KeyRow = Pick<FixtureKey, 'id' | 'organization'> & {
  readonly file: string;
  readonly alg: Algorithm;
  readonly allowed_scopes: AllowedScopes;
  readonly deleted?: boolean;
};

/** Every published test key. */
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
 * The test keys that organization number `index` (0: the first) starts with. No organization shares a key with the
 * first; a deleted key is in no ring. Key files are read when a token needs them.
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

/** Whether it is one of the published test keys, also under another id. */
export function isFixtureKey(key: KeyObject): boolean {
  const thumbprint = thumbprintOf(key);
  return fixtureKeys().some(
    ({ publicKeyFile }) => thumbprintOf(createPublicKey(readFileSync(publicKeyFile))) === thumbprint,
  );
}

/** Whether the tokens of the key may name some scopes only, and live for an hour at most. */
export function isRestricted({ allowedScopes }: FixtureKey): boolean {
  return allowedScopes[0] !== '*';
}

/** The key that `emulator token` and the ready line name: the first one of the first or of a further organization. */
export function defaultFixtureKey(index = 0): FixtureKey {
  const place = index === 0 ? 'first' : 'further';
  return fixtureKeys().find((row) => row.organization === place)!;
}
