import { TOKEN_REPOSITORY, TOKEN_SCOPES } from '../admin/exec-variables.js';
import { list, text } from '../config/option-values.js';
import type { Flags } from './command.js';
import type { Terminal } from './terminal.js';

export const TOKEN_FLAGS = {
  repo: {
    read: text('the name of a repository'),
    default: TOKEN_REPOSITORY,
    describe: 'Name of the repository for which EMULATOR_TOKEN is valid',
  },
  scopes: {
    read: list(text('the name of a scope')),
    repeatable: true,
    describe: `Scopes of EMULATOR_TOKEN, separated by commas; default ${TOKEN_SCOPES.join(',')}, without those that the key does not allow`,
  },
} satisfies Flags;

/** Returns a signed token. Returns an empty string if there is no private key. */
export async function signedIfPossible(
  keyFile: string | undefined,
  sign: () => Promise<string>,
  { warn }: Terminal,
): Promise<string> {
  try {
    if (!keyFile) throw new Error('the emulator has no private key with which it could sign a token.');
    return await sign();
  } catch (error) {
    warn(`EMULATOR_TOKEN is empty: ${(error as Error).message}\n`);
    return '';
  }
}
