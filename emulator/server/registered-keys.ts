import { defaultFixtureKey, fixtureRing, isFixtureKey } from '../auth/fixture-keys.js';
import { type AllowedScopes, KeyRing, type RegisteredKey } from '../auth/keys.js';
import { registeredKey } from '../auth/public-key.js';
import { SCOPES } from '../auth/scope.js';
import type { KeyOption } from '../config/key-option.js';
import { isLoopback } from '../config/loopback.js';
import { type EmulatorOptions, OptionError } from '../config/options.js';

type Options = Pick<EmulatorOptions, 'host' | 'org' | 'key' | 'testKeys'>;

/**
 * Returns true if the published test keys are registered, so that their tokens are valid. Anybody can sign with these
 * keys. By default, they are registered only if the emulator listens on loopback.
 */
export function hasTestKeys({ host, testKeys = isLoopback(host) }: Options): boolean {
  return testKeys;
}

/**
 * Returns true if users must not register the published test keys as their own. This is so if other machines can reach
 * the emulator, unless the user has enabled the test keys.
 */
export function refusesTestKeys({ host, testKeys = false }: Pick<Options, 'host' | 'testKeys'>): boolean {
  return !isLoopback(host) && !testKeys;
}

/**
 * Returns the key ring (registered keys) with which each organization starts. The rings are in the order of the
 * organizations. Throws `OptionError` for a key that cannot be registered.
 */
export function registeredKeys(options: Options): KeyRing[] {
  const rings = options.org.map((_, index) => (hasTestKeys(options) ? fixtureRing(index) : new KeyRing([])));
  for (const option of options.key) {
    const index = option.organization === undefined ? 0 : options.org.indexOf(option.organization);
    const ring = rings[index];
    if (!ring)
      throw new OptionError(
        `The key ${option.file} is for the organization ${option.organization}, which does not exist. Add --org ${option.organization}.`,
      );
    const key = register(option);
    if (refusesTestKeys(options) && isFixtureKey(key.publicKey)) {
      throw new OptionError(
        `The key ${option.file} is a published test key, so anybody can sign with it. Add --test-keys to allow it.`,
      );
    }
    if (ring.find(key.kid)) {
      throw new OptionError(
        `The key ${option.file} has the same id as another key, ${JSON.stringify(key.kid)}. Give it another id with ${option.file}:ID.`,
      );
    }
    rings[index] = ring.with(key);
  }
  return rings;
}

function register({ file, publicKey, id, allowedScopes = ['*'] }: KeyOption): RegisteredKey {
  const known: readonly string[] = SCOPES;
  const isAll = allowedScopes.length === 1 && allowedScopes[0] === '*';
  const unknown = isAll ? undefined : allowedScopes.find((scope) => !known.includes(scope));
  if (unknown !== undefined) {
    throw new OptionError(
      `The key ${file} has the unknown scope ${unknown} in allowed_scopes. The scopes are ${SCOPES.join(', ')}.`,
    );
  }
  const fields = { id, allowedScopes: allowedScopes as AllowedScopes };
  return registeredKey(publicKey, fields, (why) => new OptionError(`The key ${file} ${why}`));
}

/** Key with which users can sign tokens. The ready line (printed when the emulator has started) names it. */
export interface SigningKey {
  readonly id: string;
  readonly file: string;
}

/**
 * Returns the key that the ready line (printed when the emulator has started) names. It is the first test key of the
 * first organization. Without test keys, it is the first key that the user registered for this organization. The
 * members are empty strings if neither exists.
 */
export function signingKeyOf(options: Options): SigningKey {
  if (hasTestKeys(options)) {
    const { id, privateKeyFile: file } = defaultFixtureKey();
    return { id, file };
  }
  const [first] = options.org;
  const own = options.key.find(({ organization = first }) => organization === first);
  return own ? { id: register(own).kid, file: own.file } : { id: '', file: '' };
}
