import { createPublicKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { ADMIN_PREFIX } from '../admin/path.js';
import { fixtureKeys } from '../auth/fixture-keys.js';
import { mintToken } from '../auth/mint.js';
import { choice, text } from '../config/option-values.js';
import { AdminClient, EMULATOR_FLAGS } from './admin-client.js';
import { defineCommand, type Flags } from './command.js';
import { ENV_FORMATS, type EnvFormat } from './env-formats.js';
import { type Ready, readReady } from './ready.js';
import { Unreached } from './usage-error.js';
import { signedIfPossible, TOKEN_FLAGS, tokenClaims, variablesOf } from './variables.js';

const FORMATS = Object.keys(ENV_FORMATS) as EnvFormat[];

const FLAGS = {
  ...EMULATOR_FLAGS,
  'ready-file': { read: text('the name of a file'), describe: 'Its ready file, instead of its address' },
  format: { read: choice(FORMATS), default: 'sh', describe: `How: ${FORMATS.join(', ')}` },
  ...TOKEN_FLAGS,
} satisfies Flags;

/** `emulator env`: the variables that `exec` sets, of an emulator that runs. */
export const envCommand = defineCommand({
  name: 'env',
  describe: 'Print the variables that exec exports, for a running emulator: eval "$(emulator env)"',
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
      throw new Unreached(`No emulator at ${client.url}: something that is no emulator answered.`);
    }
    const key = await findKey(client, org, ready?.keyFile);
    const claims = tokenClaims({ repo, scopes }, key?.allowedScopes ?? ['*']);
    const sign = async ({ id: kid, privateKeyPem }: SigningKey) => {
      const { now } = (await client.ask('GET', '/clock')) as { now: string };
      return mintToken({ ...claims, org, now: Date.parse(now), kid, privateKeyPem });
    };
    const token = await signedIfPossible(key?.file, () => sign(key!), terminal);
    const variables = variablesOf({
      url: client.url,
      gitUrl: ready?.gitUrl ?? client.url,
      org,
      keyFile: key?.file ?? '',
      token,
      adminUrl: `${client.url}${ADMIN_PREFIX}`,
    });
    terminal.print(ENV_FORMATS[json ? 'json' : format].write(variables));
  },
});

interface Health {
  readonly emulator: boolean;
  readonly organization: string;
}

async function requireReady(file: string): Promise<Ready> {
  const ready = await readReady(file);
  if (ready) return ready;
  throw new Unreached(`No emulator by ${JSON.stringify(file)}: it does not say where one is.`);
}

/** Of an emulator that made a token of its own. */
async function tokenOf(ready: Ready | undefined): Promise<string | undefined> {
  if (ready?.adminTokenFile === undefined) return undefined;
  return (await readFile(ready.adminTokenFile, 'utf8').catch(() => '')).trim() || undefined;
}

interface SigningKey {
  readonly id: string;
  readonly file: string;
  readonly privateKeyPem: string;
  readonly allowedScopes: readonly string[];
}

/** The first private key known here whose public part is registered there: that of the ready file, or a test key. */
async function findKey(client: AdminClient, organization: string, own = ''): Promise<SigningKey | undefined> {
  const registered = (await client.list('/keys', { organization })).map((row) => ({
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

/** The public part of a key, in one form for equal keys; empty for what is none. */
function publicPartOf(pem: string): string {
  try {
    return createPublicKey(pem).export({ type: 'spki', format: 'pem' }).toString();
  } catch {
    return '';
  }
}
