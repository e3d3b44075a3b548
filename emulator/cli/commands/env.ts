import { readFile } from 'node:fs/promises';
import { readAddress } from '../../admin/address-members.js';
import { type HttpsAddresses, tokenClaims, variablesOf } from '../../admin/exec-variables.js';
import { ADMIN_PREFIX } from '../../admin/path.js';
import { mintToken } from '../../auth/mint.js';
import { choice, text } from '../../config/option-values.js';
import { findKey, type SigningKey } from '../../connect/signing-key.js';
import { AdminClient, EMULATOR_FLAGS } from '../admin-client.js';
import { defineCommand, type Flags } from '../command.js';
import { ENV_FORMATS, type EnvFormat } from '../env-formats.js';
import { type Ready, readReady } from '../ready.js';
import { Unreached } from '../usage-error.js';
import { signedIfPossible, TOKEN_FLAGS } from '../variables.js';

const FORMATS = Object.keys(ENV_FORMATS) as EnvFormat[];

const FLAGS = {
  ...EMULATOR_FLAGS,
  'ready-file': {
    read: text('the name of a file'),
    describe: 'File that `emulator start --ready-file` wrote, from which the address is read instead of --url',
  },
  format: { read: choice(FORMATS), default: 'sh', describe: `How: ${FORMATS.join(', ')}` },
  ...TOKEN_FLAGS,
} satisfies Flags;

/**
 * Command `emulator env`: prints the environment variables for using a running emulator. `emulator exec` sets the same
 * variables for its program.
 */
export const envCommand = defineCommand({
  name: 'env',
  describe: 'Print the environment variables for using a running emulator: eval "$(emulator env)"',
  flags: FLAGS,
  exclusive: [
    ['url', 'ready-file'],
    ['json', 'format'],
  ],
  run: async ({ json, format, repo, scopes, 'ready-file': readyFile, ...address }, { terminal }) => {
    const ready = readyFile === undefined ? undefined : await requireReady(readyFile);
    const adminToken = address['admin-token'] ?? (await tokenOf(ready));
    const client = new AdminClient({ ...address, 'admin-token': adminToken, url: ready?.url ?? address.url }, terminal);
    const { emulator, organization: org } = (await client.ask('GET', '/health')) as Partial<Health>;
    if (emulator !== true || org === undefined) {
      throw new Unreached(`No emulator at ${client.url}: the server is not an emulator.`);
    }
    const key = await findKey(client, org, ready?.keyFile);
    const claims = tokenClaims({ repo, scopes }, key?.allowedScopes ?? ['*']);
    const sign = async ({ id: kid, privateKeyPem }: SigningKey) => {
      const { now } = (await client.ask('GET', '/clock')) as { now: string };
      return mintToken({ ...claims, org, now: Date.parse(now), kid, privateKeyPem });
    };
    const token = await signedIfPossible(key?.file, () => sign(key!), terminal);
    const secure = ready?.https ?? (await askHttps(client, org));
    const variables = variablesOf({
      url: client.url,
      gitUrl: ready?.gitUrl ?? client.url,
      https: secure,
      org,
      keyFile: key?.file ?? '',
      token,
      adminUrl: `${client.url}${ADMIN_PREFIX}`,
    });
    terminal.print(ENV_FORMATS[json ? 'json' : format].write(Object.entries(variables)));
  },
});

/**
 * Returns the HTTPS addresses of an organization, as reported by a running emulator. Returns undefined if HTTPS is not
 * served.
 */
async function askHttps(client: AdminClient, organization: string): Promise<HttpsAddresses | undefined> {
  const { orgs } = (await client.ask('GET', '/addresses')) as { orgs: Readonly<Record<string, string | undefined>>[] };
  return readAddress(orgs.find(({ org }) => org === organization) ?? {})?.https;
}

interface Health {
  readonly emulator: boolean;
  readonly organization: string;
}

async function requireReady(file: string): Promise<Ready> {
  const ready = await readReady(file);
  if (ready) return ready;
  throw new Unreached(
    `No emulator: the ready file ${JSON.stringify(file)} does not exist, or contains no address of an emulator.`,
  );
}

/**
 * Returns the admin token that the emulator generated and wrote to a file. Returns undefined if the ready file names no
 * such file, or if the file is empty or unreadable.
 */
async function tokenOf(ready: Ready | undefined): Promise<string | undefined> {
  if (ready?.adminTokenFile === undefined) return undefined;
  return (await readFile(ready.adminTokenFile, 'utf8').catch(() => '')).trim() || undefined;
}
