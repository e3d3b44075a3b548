import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readTextFile, UnreadableFile } from './text-file.js';

export type Algorithm = 'ES256' | 'ES384' | 'ES512' | 'RS256';

/** A private key that is registered at the target, or was until it was deleted. */
export interface SigningKey {
  /** Where it was read from: a file, or `$NAME` of an environment variable. */
  readonly file: string;
  /** The environment variable that it was read from. */
  readonly env?: string;
  /** The target file that says where it is, by the name it was given under. */
  readonly targetFile?: string;
  readonly algorithm: Algorithm;
  readonly privateKey: KeyObject;
  /** The id under which it is registered, where known. */
  readonly id?: string;
  /** The scopes of its allowlist; undefined for an unrestricted key. */
  readonly allowedScopes?: readonly string[];
}

const CURVES: Readonly<Record<string, Algorithm>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};

/**
 * Reads a PKCS#8 PEM file. Throws with a sentence for people when it is not one, or holds a key that cannot sign tokens.
 *
 * ```js
 * const key = await readKey('acme.pem', { id: 'main' });
 * console.log(key.algorithm); // ES256
 * ```
 */
export async function readKey(
  file: string,
  about: { readonly id?: string; readonly allowedScopes?: readonly string[] } = {},
): Promise<SigningKey> {
  return { ...signingKey(await readSecretFile(file), file), ...about };
}

/** The text of a file that holds a secret. Throws with a sentence that names the file. */
export async function readSecretFile(file: string): Promise<string> {
  try {
    return await readTextFile(file);
  } catch (error) {
    throw error instanceof UnreadableFile ? new Error(`${file} ${error.message}`) : error;
  }
}

/** The key of a PKCS#8 PEM text. `file`: where it is from. Throws with a sentence that never holds a part of the text. */
export function signingKey(pem: string, file: string): SigningKey {
  if (!pem.includes('-----BEGIN PRIVATE KEY-----')) throw new Error(`${file} is not a PKCS#8 PEM private key`);
  const privateKey = readPem(pem, file);
  return { file, algorithm: algorithmOf(privateKey, file), privateKey };
}

function readPem(pem: string, file: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new Error(`${file} holds no private key that can be read`);
  }
}

export function algorithmOf(key: KeyObject, name: string): Algorithm {
  if (key.asymmetricKeyType === 'rsa') return 'RS256';
  const algorithm = CURVES[key.asymmetricKeyDetails?.namedCurve ?? ''];
  if (algorithm === undefined)
    throw new Error(`${name}: only RSA and EC keys on P-256, P-384 or P-521 can sign tokens`);
  return algorithm;
}
