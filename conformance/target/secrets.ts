import { defined } from './json.js';
import { readSecretFile, type SigningKey, signingKey } from './keys.js';
import type { KeyEntry, Secret } from './target-file.js';

/** The text of a secret. Throws with a sentence that names the file or the variable, never what it holds. */
export async function readSecret({ file, env }: Secret, environment: NodeJS.ProcessEnv): Promise<string> {
  if (file !== undefined) return readSecretFile(file);
  const value = environment[env ?? ''];
  if (value === undefined || value === '') throw new Error(`the environment has no ${env}`);
  return value;
}

/** The key of an entry of a target file. Throws with a sentence when it is none. */
export async function readKeyEntry(entry: KeyEntry, environment: NodeJS.ProcessEnv): Promise<SigningKey> {
  const { file, env, id, scopes } = entry;
  const pem = await readSecret(entry, environment);
  return {
    // Line ends of a PEM are often written `\n` where a variable holds one line.
    ...signingKey(file === undefined ? pem.replaceAll('\\n', '\n') : pem, file ?? `$${env}`),
    ...defined({ env, id, allowedScopes: scopes }),
  };
}
