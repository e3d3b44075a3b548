import { mintToken } from '../../auth/mint.js';
import { text } from '../../config/option-values.js';
import { findKey } from '../../connect/signing-key.js';
import { AdminClient, EMULATOR_FLAGS } from '../admin-client.js';
import { defineCommand } from '../command.js';
import { commandLine, processRecord } from '../processes.js';
import { UsageError } from '../usage-error.js';

/**
 * Request from Git to a credential helper (git-credential(1)), as values by key. Git sends lines of `key=value` and an
 * empty line at the end.
 */
type Asked = Readonly<Record<string, string>>;

/** Maximum number of characters to read of a request from Git. Git's requests are far shorter. */
const LONGEST_QUESTION = 65_536;
const SCOPES = ['git:write', 'git:read'];

const FLAGS = {
  url: EMULATOR_FLAGS.url,
  'admin-token': EMULATOR_FLAGS['admin-token'],
  repo: {
    read: text('the name of a repository'),
    describe: 'Name of the repository for which the token is valid; default: the repository of the Git remote',
  },
} as const;

/**
 * Command `emulator credential`: a Git credential helper. It gives Git an access token for remotes of a running
 * emulator.
 */
export const credentialCommand = defineCommand({
  name: 'credential',
  describe: "A credential helper for Git: git -c credential.helper='!emulator credential' clone URL",
  flags: FLAGS,
  positionals: { action: 'get, store or erase, which Git adds' },
  run: async ({ action, repo: named, ...address }, { terminal }) => {
    if (action === undefined)
      throw new UsageError(
        'credential requires one of get, store, erase. Git adds it when it runs the credential helper.',
      );
    // Ignores `store` and `erase`. gitcredentials(7): "If it does not support the requested operation [...], it should
    // silently ignore the request."
    if (action !== 'get') return;
    const asked = readQuestion(await terminal.input(LONGEST_QUESTION));
    const { protocol = '', host = '' } = asked;
    if (!isWebAddress({ protocol, host })) return;
    const client = new AdminClient(address, terminal);
    const addresses = (await client.ask('GET', '/addresses')) as Addresses;
    const org = organizationAt({ protocol, host }, addresses, client.url);
    if (org === undefined) return;
    const repo = named ?? repositoryIn(asked.path) ?? repositoryIn(pathAskedAbove({ protocol, host }));
    const ready = terminal.environment.EMULATOR_TOKEN;
    if (repo === undefined && !ready) {
      throw new UsageError(
        'Git did not name the repository. Set credential.useHttpPath to true in Git, or pass --repo NAME.',
      );
    }
    const token =
      repo === undefined ? ready : await sign(client, { org, repo }, terminal.environment.EMULATOR_KEY_FILE);
    terminal.print(`username=${asked.username || 't'}\npassword=${token}\n`);
  },
});

interface Addresses {
  readonly orgs: readonly { readonly org: string; readonly [name: string]: string | undefined }[];
  readonly hosts: readonly { readonly host: string; readonly org: string }[];
}

interface Place {
  readonly protocol: string;
  readonly host: string;
}

function readQuestion(question: string): Asked {
  const lines = question.split(/\r?\n/);
  const end = lines.indexOf('');
  const pairs = lines.slice(0, end < 0 ? undefined : end).map((line) => [line, line.indexOf('=')] as const);
  return Object.fromEntries(
    pairs.filter(([, at]) => at > 0).map(([line, at]) => [line.slice(0, at), line.slice(at + 1)]),
  );
}

/**
 * Returns true if protocol and host form an http or https address. Git also asks credential helpers about other
 * protocols, such as smtp.
 */
function isWebAddress({ protocol, host }: Place): boolean {
  return /^https?$/.test(protocol) && URL.canParse(`${protocol}://${host}`) && !/[/?#@\s]/.test(host);
}

/**
 * Returns the organization that the emulator serves at an address. Returns undefined if the address does not belong to
 * the emulator. `url` is the address at which the emulator was reached.
 */
function organizationAt(place: Place, { orgs, hosts }: Addresses, url: string): string | undefined {
  const { hostname, origin } = originOf(`${place.protocol}://${place.host}`);
  // Accepts hosts of `--api-host` and `--git-host` only with https. The emulator replaces these hosts only for HTTPS,
  // so an http request of Git would reach the real host.
  const builtIn = origin === `https://${hostname}` ? hosts.find(({ host }) => host === hostname) : undefined;
  if (builtIn) return builtIn.org;
  const named = /^api\.([^.]+)\.localhost$/.exec(hostname)?.[1];
  const own = orgs.find(({ org: _org, ...addresses }) =>
    Object.entries(addresses).some(([name, address]) => name.endsWith('_url') && originOf(address!).origin === origin),
  );
  const org = own?.org ?? (originOf(url).origin === origin ? orgs[0]?.org : undefined);
  return org === undefined ? undefined : (orgs.find((other) => other.org === named)?.org ?? org);
}

/**
 * Returns the host name and the origin of a URL. All loopback names and addresses become `localhost`, so that different
 * URLs of one emulator have equal origins.
 */
function originOf(url: string): { readonly hostname: string; readonly origin: string } {
  const { protocol, hostname, port } = new URL(url);
  const isOwn = /^(?:127(?:\.\d+){3}|\[::1\]|(?:.+\.)?localhost)$/.test(hostname);
  const shown = isOwn ? 'localhost' : hostname;
  return { hostname, origin: `${protocol}//${shown}${port === '' ? '' : `:${port}`}` };
}

/**
 * Returns the repository name in the path of a Git remote; undefined if absent. `team/app.git` → `team/app`,
 * `team/app+import.git/info/lfs` → `team/app`.
 */
function repositoryIn(path: string | undefined): string | undefined {
  return /^\/?(.+?)(?:\+(?:ephemeral|import))?\.git(?:\/.*)?$/.exec(path ?? '')?.[1];
}

/**
 * Returns the path of the remote for which Git needs a credential; undefined if not found. Git sends the path only if
 * `credential.useHttpPath` is set. But the Git program that starts the helper has the remote's URL as an argument, so
 * the function searches the command lines of the parent processes: "git remote-http origin
 * http://127.0.0.1:8080/team/app.git".
 */
function pathAskedAbove({ protocol, host }: Place): string | undefined {
  const start = `${protocol}://`;
  for (let pid = process.ppid, depth = 0; pid > 1 && depth < 8; depth++) {
    for (const word of commandLine(pid)) {
      if (!word.startsWith(start) || !URL.canParse(word)) continue;
      const url = new URL(word);
      if (url.host !== new URL(`${start}${host}`).host) continue;
      try {
        return decodeURIComponent(url.pathname);
      } catch {
        return undefined;
      }
    }
    pid = processRecord(pid)?.parent ?? 0;
  }
  return undefined;
}

/**
 * Creates an access token for a repository. This process signs it with the key in `keyFile`, if the emulator knows that
 * key. Otherwise the emulator signs it with a test key.
 */
async function sign(
  client: AdminClient,
  { org, repo }: { readonly org: string; readonly repo: string },
  keyFile: string | undefined,
): Promise<string> {
  const key = keyFile ? await findKey(client, org, keyFile) : undefined;
  if (!key) {
    const { token } = (await client.ask('POST', '/tokens', { org, repo, scopes: SCOPES })) as { token: string };
    return token;
  }
  const { now } = (await client.ask('GET', '/clock')) as { now: string };
  const { id: kid, privateKeyPem, allowedScopes } = key;
  const scopes = allowedScopes[0] === '*' ? SCOPES : SCOPES.filter((scope) => allowedScopes.includes(scope));
  return mintToken({ org, repo, scopes, now: Date.parse(now), kid, privateKeyPem });
}
