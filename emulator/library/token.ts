import { defaultFixtureKey, fixtureKeys } from '../auth/fixture-keys.js';
import { mintFixtureToken } from '../auth/fixture-token.js';
import { mintToken } from '../auth/mint.js';
import type { GivenFault } from '../faults/fault.js';
import { faultClaims } from '../faults/fault-claim.js';
import type { FaultedOperation } from '../faults/operation-shape.js';
import type { SigningKey } from '../server/registered-keys.js';
import { readTextFile } from '../system/text-file.js';
import type { CurrentWorld } from '../world/current-world.js';

/** Options of a token that the emulator signs for a client. All of them have defaults. */
export interface TokenOptions {
  /** Repository in the `repo` claim. Without it, the token has no `repo` claim. */
  readonly repo?: string | undefined;
  /**
   * Scopes. Default: those of `git:write` and `git:read` that the key allows. Not checked, because tests may need
   * invalid scopes.
   */
  readonly scopes?: readonly string[] | undefined;
  /** Lifetime in seconds. Default: one year, or one hour for the restricted test key. */
  readonly ttl?: number | undefined;
  /** Test key as listed by `emulator keys`, or the path of a PKCS#8 PEM file. Default: the signing key of `org`. */
  readonly key?: string | undefined;
  /** The `sub` claim, which the journal shows. Default: `emulator`. */
  readonly sub?: string | undefined;
  /** Name of the organization for which the token is valid. Default: the first organization of the emulator. */
  readonly org?: string | undefined;
  /** Faults (deliberate failures) that affect every request with the token. Each item is one fault. */
  readonly faults?: readonly (string | GivenFault)[] | undefined;
  /** Scenario that every request with the token names. */
  readonly scenario?: string | undefined;
}

/** @internal */
export interface TokenSigner {
  readonly current: CurrentWorld;
  readonly operations: readonly FaultedOperation[];
  /** Signing key of the first organization. */
  readonly signingKey: SigningKey;
}

/** Signs a token at the time of the emulator. Rejects with an `Error` that names the invalid option. @internal */
export async function signToken(
  { current, operations, signingKey }: TokenSigner,
  options: TokenOptions,
): Promise<string> {
  const { repo, scopes, ttl, sub, faults, scenario } = options;
  const { organizations, clock } = current.world.state;
  const names = organizations.list().map(({ name }) => name);
  const { org = names[0]! } = options;
  if (ttl !== undefined && !(Number.isSafeInteger(ttl) && ttl > 0)) {
    throw new Error(`ttl must be a positive whole number of seconds, not ${ttl}.`);
  }
  const claims = faultClaims({ faults, scenario }, { where: 'faults', operations });
  const request = { org, now: clock.now(), claims, repo, scopes, sub, ttl };
  const key = options.key ?? defaultKey(names.indexOf(org), signingKey);
  const row = fixtureKeys().find(({ id }) => id === key);
  if (row) return mintFixtureToken(row, request);
  const kid = key === signingKey.file ? { kid: signingKey.id } : {};
  return mintToken({ ...request, ...kid, privateKeyPem: readKey(key) });
}

/**
 * Returns the signing key of an organization. `index`: index of the organization; -1 if it does not exist, which is
 * valid because tests may need a wrong `iss`.
 */
function defaultKey(index: number, { file }: SigningKey): string {
  const testKey = defaultFixtureKey(Math.max(index, 0));
  if (index > 0 || file === testKey.privateKeyFile) return testKey.id;
  if (file !== '') return file;
  throw new Error('The emulator has no signing key. Pass one in the option key.');
}

function readKey(file: string): string {
  try {
    return readTextFile(file);
  } catch {
    const known = fixtureKeys().map(({ id }) => id);
    throw new Error(`key must be one of ${known.join(', ')}, or the path of a readable PEM file.`);
  }
}
