import { defined } from './json.js';
import { readSecretFile, type SigningKey, signingKey } from './keys.js';
import type { KeyEntry, Secret } from './target-file.js';

/**
 * Reads a secret from a file or an environment variable. Error messages name the file or variable, never the secret.
 */
export async function readSecret({ file, env }: Secret, environment: NodeJS.ProcessEnv): Promise<string> {
  if (file !== undefined) return readSecretFile(file);
  const value = environment[env ?? ''];
  if (value === undefined || value === '') throw new Error(`the environment variable ${env} is not set`);
  return value;
}

/**
 * Reads the private key that an entry of a target file refers to. Throws an error with a readable message if the text
 * is not a private key.
 */
export async function readKeyEntry(entry: KeyEntry, environment: NodeJS.ProcessEnv): Promise<SigningKey> {
  const { file, env, id, scopes } = entry;
  const pem = await readSecret(entry, environment);
  return {
    // Replace `\n`: an environment variable often has a PEM text on one line, with the two characters `\n` for each
    // line end.
    ...signingKey(file === undefined ? pem.replaceAll('\\n', '\n') : pem, file ?? `$${env}`),
    ...defined({ env, id, allowedScopes: scopes }),
  };
}
