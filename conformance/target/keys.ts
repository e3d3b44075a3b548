import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readTextFile, UnreadableFile } from './text-file.js';

export type Algorithm = 'ES256' | 'ES384' | 'ES512' | 'RS256';

/** Private key for signing tokens. It is registered at the target, or was registered and then deleted. */
export interface SigningKey {
  /** Source of the key: a file name, or `$NAME` for an environment variable. */
  readonly file: string;
  /** Environment variable that contains the key. Undefined if the key was read from a file. */
  readonly env?: string;
  /**
   * Path of the target file that refers to the key, as given on the command line. Undefined if no target file refers to
   * it.
   */
  readonly targetFile?: string;
  readonly algorithm: Algorithm;
  readonly privateKey: KeyObject;
  /** Id under which the key is registered at the target. Undefined if unknown. */
  readonly id?: string;
  /** Allowlist: the scopes that tokens of this key may have. Undefined for an unrestricted key. */
  readonly allowedScopes?: readonly string[];
}

const CURVES: Readonly<Record<string, Algorithm>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};

/**
 * Reads a private key from a PKCS#8 PEM file. Throws an error with a readable message if the file has another format,
 * or if its key cannot sign tokens.
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

/** Reads a text file that contains a secret. Error messages name the file, never the secret. */
export async function readSecretFile(file: string): Promise<string> {
  try {
    return await readTextFile(file);
  } catch (error) {
    throw error instanceof UnreadableFile ? new Error(`${file} ${error.message}`) : error;
  }
}

/**
 * Parses a private key in PKCS#8 PEM format. Error messages never contain a part of the text. `file`: source of the
 * text, for error messages.
 */
export function signingKey(pem: string, file: string): SigningKey {
  if (!pem.includes('-----BEGIN PRIVATE KEY-----')) throw new Error(`${file} is not a PKCS#8 PEM private key`);
  const privateKey = readPem(pem, file);
  return { file, algorithm: algorithmOf(privateKey, file), privateKey };
}

function readPem(pem: string, file: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new Error(`${file} contains no readable private key`);
  }
}

export function algorithmOf(key: KeyObject, name: string): Algorithm {
  if (key.asymmetricKeyType === 'rsa') return 'RS256';
  const algorithm = CURVES[key.asymmetricKeyDetails?.namedCurve ?? ''];
  if (algorithm === undefined)
    throw new Error(`${name}: only RSA and EC keys on P-256, P-384 or P-521 can sign tokens`);
  return algorithm;
}
