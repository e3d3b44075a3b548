import { defaultFixtureKey, fixtureKeys } from '../auth/fixture-keys.js';
import { mintFixtureToken } from '../auth/fixture-token.js';
import { mintToken } from '../auth/mint.js';
import type { GivenFault } from '../faults/fault.js';
import { faultClaims } from '../faults/fault-claim.js';
import type { FaultedOperation } from '../faults/operation-shape.js';
import type { SigningKey } from '../server/registered-keys.js';
import { readTextFile } from '../system/text-file.js';
import type { CurrentWorld } from '../world/current-world.js';

/** What a token says. */
export interface TokenOptions {
  /** Repository the token covers; without it the claim is left out. */
  readonly repo?: string | undefined;
  /** Default `git:write` and `git:read`, as far as the key allows them. Not checked: a test may want a wrong one. */
  readonly scopes?: readonly string[] | undefined;
  /** Lifetime in seconds. Default one year, for the restricted test key one hour. */
  readonly ttl?: number | undefined;
  /** A test key, as `emulator keys` lists them, or the name of a PKCS#8 PEM file. Default: what signs for `org`. */
  readonly key?: string | undefined;
  /** Who asks, for the journal. Default `emulator`. */
  readonly sub?: string | undefined;
  /** Organization. Default: the first. */
  readonly org?: string | undefined;
  /** Faults that every request with the token meets, one in each text. */
  readonly faults?: readonly (string | GivenFault)[] | undefined;
  /** Scenario that every request with the token is in. */
  readonly scenario?: string | undefined;
}

/** @internal */
export interface TokenSigner {
  readonly current: CurrentWorld;
  readonly operations: readonly FaultedOperation[];
  /** What signs for the first organization. */
  readonly signingKey: SigningKey;
}

/** Signs a token at the time of the emulator. Rejects with an `Error` that says what cannot be. @internal */
export async function signToken(
  { current, operations, signingKey }: TokenSigner,
  options: TokenOptions,
): Promise<string> {
  const { repo, scopes, ttl, sub, faults, scenario } = options;
  const { organizations, clock } = current.world.state;
  const names = organizations.list().map(({ name }) => name);
  const { org = names[0]! } = options;
  if (ttl !== undefined && !(Number.isSafeInteger(ttl) && ttl > 0)) {
    throw new Error('ttl has to be a whole number of seconds above 0.');
  }
  const claims = faultClaims({ faults, scenario }, { where: 'faults', operations });
  const request = { org, now: clock.now(), claims, repo, scopes, sub, ttl };
  const key = options.key ?? defaultKey(names.indexOf(org), signingKey);
  const row = fixtureKeys().find(({ id }) => id === key);
  if (row) return mintFixtureToken(row, request);
  const kid = key === signingKey.file ? { kid: signingKey.id } : {};
  return mintToken({ ...request, ...kid, privateKeyPem: readKey(key) });
}

/** `index`: the organization's place, below 0 for one that does not exist, as a test of a wrong `iss` names it. */
function defaultKey(index: number, { file }: SigningKey): string {
  const testKey = defaultFixtureKey(Math.max(index, 0));
  if (index > 0 || file === testKey.privateKeyFile) return testKey.id;
  if (file !== '') return file;
  throw new Error('The emulator was started without a key to sign with: name one as key.');
}

function readKey(file: string): string {
  try {
    return readTextFile(file);
  } catch {
    const known = fixtureKeys().map(({ id }) => id);
    throw new Error(`key has to be one of ${known.join(', ')}, or a file that can be read.`);
  }
}
