import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { defined } from '../target/json.js';
import { readKey, type SigningKey } from '../target/keys.js';
import type { Target } from '../target/target.js';

/** JSON line that `emulator start` prints to standard output when it is ready for requests. */
export interface ReadyLine {
  readonly event: 'ready';
  readonly base_url: string;
  readonly git_url: string;
  readonly org: string;
  readonly orgs: readonly { readonly org: string; readonly base_url: string }[];
  readonly key_id: string;
  readonly key_file: string;
  readonly admin_url: string;
  /**
   * File with an admin token that the emulator generated. It generates one only if it listens beyond loopback and no
   * token was given. Undefined otherwise.
   */
  readonly admin_token_file?: string;
}

/** Entry of `keys.json`, the list of published test keys. `keys.json` is in the folder of the key files. */
interface KeyRow {
  readonly id: string;
  readonly file: string;
  readonly allowed_scopes: readonly string[];
}

/**
 * Returns the target (description of the service under test) for a started emulator. Reads the test keys from the
 * folder of the emulator's default key. `token`: admin token of the emulator; ignored if the emulator generated one.
 */
export async function readEmulatorTarget(ready: ReadyLine, token?: string): Promise<Target> {
  const folder = dirname(ready.key_file);
  const rows: readonly KeyRow[] = JSON.parse(await readFile(join(folder, 'keys.json'), 'utf8'));
  const read = async (id: string): Promise<SigningKey> => {
    const row = rows.find((one) => one.id === id);
    if (row === undefined) throw new Error(`${folder} has no key ${id}`);
    const { file, allowed_scopes: scopes } = row;
    return readKey(join(folder, file), { id, ...(scopes.includes('*') ? {} : { allowedScopes: scopes }) });
  };
  const key = await readKey(ready.key_file, { id: ready.key_id });
  const others = await Promise.all(['es256', 'es384', 'es512', 'rs256'].map(read));
  const made = ready.admin_token_file;
  const adminToken = made === undefined ? token : (await readFile(made, 'utf8')).trim();
  const second = ready.orgs.find(({ org }) => org !== ready.org);
  return {
    baseUrl: ready.base_url,
    gitUrl: ready.git_url,
    org: ready.org,
    key,
    otherKeys: others.filter(({ file }) => file !== key.file),
    write: true,
    companion: true,
    restrictedKey: await read('restricted'),
    deletedKey: await read('deleted'),
    ...(second && { second: { org: second.org, key: await read('second'), baseUrl: second.base_url } }),
    adminUrl: ready.admin_url,
    ...defined({ adminToken }),
  };
}
