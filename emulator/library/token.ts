import { defaultFixtureKey, fixtureKeys } from '../auth/fixture-keys.js';
import { mintFixtureToken } from '../auth/fixture-token.js';
import { mintToken } from '../auth/mint.js';
import type { GivenFault } from '../faults/fault.js';
import { faultClaims } from '../faults/fault-claim.js';
import type { FaultedOperation } from '../faults/operation-shape.js';
import type { SigningKey } from '../server/registered-keys.js';
import { readTextFile } from '../system/text-file.js';
import type { CurrentWorld } from '../world/current-world.js';

/** Options of an access token that the emulator signs for a client. Each option has a default. */
export interface TokenOptions {
  /** Name of the repository in the `repo` claim of the token. By default, the token has no `repo` claim. */
  readonly repo?: string | undefined;
  /**
   * Scopes (permissions) of the token. The default is `git:write` and `git:read`, as far as the signing key allows
   * them. The names are not checked, because tests may need a token with invalid scopes.
   */
  readonly scopes?: readonly string[] | undefined;
  /**
   * Lifetime of the token in seconds. The default is one year, or one hour if the restricted test key signs the token.
   */
  readonly ttl?: number | undefined;
  /**
   * Key that signs the token. It is the id of a test key, as listed by `emulator keys`, or the path of a PKCS#8 PEM
   * file. The default is the signing key of the organization `org`.
   */
  readonly key?: string | undefined;
  /**
   * Subject (claim `sub`) of the token; `emulator` by default. The journal shows it for each request with the token.
   */
  readonly sub?: string | undefined;
  /** Name of the organization for which the token is valid; by default, the first organization of the emulator. */
  readonly org?: string | undefined;
  /**
   * Faults (deliberate failures) that affect every request with the token. Each item is one fault, as a text or an
   * object.
   */
  readonly faults?: readonly (string | GivenFault)[] | undefined;
  /**
   * Id of the client's scenario. It applies to every request with the token, like the header `X-Emulator-Scenario`.
   * When a client sends another id than before, faults that are counted by client start again for this client.
   */
  readonly scenario?: string | undefined;
}

/** Parts of an emulator with which `signToken` signs tokens for its clients. @internal */
export interface TokenSigner {
  readonly current: CurrentWorld;
  readonly operations: readonly FaultedOperation[];
  /** Signing key of the first organization. It is the default key. */
  readonly signingKey: SigningKey;
}

/**
 * Signs an access token for a client. The token is issued at the time of the emulator's clock. Rejects with an `Error`
 * that names the invalid option. @internal
 */
export async function signToken(
  { current, operations, signingKey }: TokenSigner,
  options: TokenOptions,
): Promise<string> {
  const { repo, scopes, ttl, sub, faults, scenario } = options;
  const { organizations, clock } = current.world.state;
  const names = organizations.list().map(({ name }) => name);
  const { org = names[0]! } = options;
  if (ttl !== undefined && !(Number.isSafeInteger(ttl) && ttl > 0)) {
    throw new Error(`ttl must be the lifetime of the token in seconds, a whole number of at least 1, not ${ttl}.`);
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
 * Returns the default signing key of an organization: the id of a test key, or the path of a key file. `index` is the
 * index of the organization in the emulator. It is -1 if no organization has the given name. An unknown name is
 * allowed, because tests may need a token with a wrong `iss` claim.
 */
function defaultKey(index: number, { file }: SigningKey): string {
  const testKey = defaultFixtureKey(Math.max(index, 0));
  if (index > 0 || file === testKey.privateKeyFile) return testKey.id;
  if (file !== '') return file;
  throw new Error(
    'The emulator has no key with which it could sign a token. Pass the path of a private key file in the option key.',
  );
}

/** Reads a private key file. Throws an `Error` if it cannot be read. @internal */
export function readKey(file: string): string {
  try {
    return readTextFile(file);
  } catch {
    const known = fixtureKeys().map(({ id }) => id);
    throw new Error(`key must be the id of a test key (${known.join(', ')}) or the path of a readable PEM file.`);
  }
}
