import { createPublicKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fixtureKeys } from '../auth/fixture-keys.js';
import type { AdminApi } from './admin-api.js';

export interface SigningKey {
  readonly id: string;
  readonly file: string;
  readonly privateKeyPem: string;
  readonly allowedScopes: readonly string[];
}

/**
 * Returns a private key for signing tokens, whose public key is registered at the emulator. It is the key in the file
 * `own`, or one of the published test keys. Undefined if none of them is registered.
 */
export async function findKey(api: AdminApi, organization: string, own = ''): Promise<SigningKey | undefined> {
  const registered = (await api.list('/keys', { organization })).map((row) => ({
    id: String(row.id),
    allowedScopes: row.allowed_scopes as string[],
    publicKey: publicPartOf(String(row.public_key)),
  }));
  const files = fixtureKeys().map(({ privateKeyFile }) => privateKeyFile);
  for (const file of own === '' ? files : [own, ...files]) {
    const privateKeyPem = await readFile(file, 'utf8').catch(() => '');
    const publicPart = publicPartOf(privateKeyPem);
    const found = registered.find(({ publicKey }) => publicKey === publicPart);
    if (publicPart !== '' && found) return { id: found.id, allowedScopes: found.allowedScopes, file, privateKeyPem };
  }
  return undefined;
}

/** Returns the public key in a PEM text, normalized for comparison; empty if the text is not a key. */
function publicPartOf(pem: string): string {
  try {
    return createPublicKey(pem).export({ type: 'spki', format: 'pem' }).toString();
  } catch {
    return '';
  }
}
