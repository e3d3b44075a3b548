import { setTimeout as sleep } from 'node:timers/promises';
import { type OrganizationAddress, readAddressMember } from '../admin/address-members.js';
import type { AddressesView, NamespaceView } from '../admin/controls.js';
import { wiringOf } from '../admin/exec-variables.js';
import { ADMIN_PREFIX } from '../admin/path.js';
import { fixtureKeys } from '../auth/fixture-keys.js';
import { mintToken } from '../auth/mint.js';
import { AdminApi, AdminApiError, type AdminApiOptions, ifAbsent } from '../connect/admin-api.js';
import { findKey, type SigningKey } from '../connect/signing-key.js';
import { faultClaims } from '../faults/fault-claim.js';
import type { FaultedOperation } from '../faults/operation-shape.js';
import { environmentOf, remoteUrl } from './access.js';
import {
  connectedClock,
  connectedExport,
  connectedFault,
  connectedImport,
  connectedOutbox,
  connectedQuotas,
  connectedRepository,
  connectedRequests,
  connectedScenario,
  connectedState,
} from './connected-parts.js';
import type { ConnectedEmulator, ConnectedNamespace, ConnectedService } from './connected-types.js';
import { readKey, type TokenOptions } from './token.js';

/** Pause in milliseconds between two checks if an emulator that is shutting down still responds. */
const PAUSE = 20;

/** Admin API of an emulator to which the library is connected. Its errors name the options of `connectEmulator`. */
class ConnectedApi extends AdminApi {
  constructor(readonly options: AdminApiOptions) {
    super(options);
  }

  protected override refusal(error: AdminApiError): Error {
    if (error.status !== 401) return error;
    return new AdminApiError(`${error.message} Pass the admin token in the option adminToken.`, 401, error.code);
  }
}

/** Values that the handles of one emulator and of its namespaces share. */
interface Shared {
  /** Operations of the API, for checking faults in tokens. */
  readonly operations: readonly FaultedOperation[];
  /** True if this process reaches the ports of the emulator; false if a container or proxy maps its first port. */
  readonly isDirect: boolean;
}

/**
 * Connects to the emulator at `url`, and checks that it is one. Rejects with an `Error` that states why it cannot be
 * used. @internal
 */
export async function connectTo(
  url: string | URL,
  { adminToken, environment, operations }: Omit<AdminApiOptions, 'url' | 'namespace'> & Pick<Shared, 'operations'>,
): Promise<ConnectedEmulator> {
  if (adminToken !== undefined && !(typeof adminToken === 'string' && /^[\x21-\x7e]+$/.test(adminToken)))
    throw new Error('adminToken must be a text of printable ASCII characters without spaces.');
  const api = new ConnectedApi({ url: readUrl(url), adminToken, environment });
  const { emulator, organization } = (await api.ask('GET', '/health')) as { emulator?: true; organization?: string };
  if (emulator !== true || organization === undefined)
    throw new Error(`No emulator at ${api.url}: the server is not an emulator.`);
  const { orgs } = (await api.ask('GET', '/addresses')) as AddressesView;
  const reported = orgs.map(readAddressMember);
  const isDirect = reported.some((address) => ownUrlsOf(address).includes(api.url));
  const addresses = isDirect ? reported : mappedTo(api.url, organization, reported);
  return { ...(await serviceAt(api, addresses, { operations, isDirect })), close: () => shutDown(api) };
}

/**
 * Returns the URL without the path of the admin API. Throws an `Error` if it is not an http or https URL, or contains
 * credentials.
 */
function readUrl(given: string | URL): string {
  const url = URL.canParse(String(given)) ? new URL(String(given)) : undefined;
  const isUsable = /^https?:$/.test(url?.protocol ?? '') && url!.search === '' && url!.hash === '';
  if (!isUsable || url!.username !== '' || url!.password !== '') {
    // Leaves out credentials in the URL, because errors are often logged.
    const shown = String(given).includes('@') ? 'a URL with credentials' : JSON.stringify(given);
    throw new Error(
      `url must be the http or https URL of an emulator, such as http://127.0.0.1:8080, not ${shown ?? 'undefined'}.`,
    );
  }
  return url!.href.replace(/\/+$/, '').replace(new RegExp(`${ADMIN_PREFIX}$`), '');
}

/** Returns the addresses at which the emulator itself serves an organization. */
function ownUrlsOf({ baseUrl, localUrl, https }: OrganizationAddress): readonly (string | undefined)[] {
  return [localUrl ?? baseUrl, https?.baseUrl];
}

/**
 * Returns the addresses for a client that reaches an organization at `url`, because a container or proxy maps the port.
 * The addresses of other organizations stay as reported.
 */
function mappedTo(
  url: string,
  organization: string,
  reported: readonly OrganizationAddress[],
): readonly OrganizationAddress[] {
  const reached = { org: organization, baseUrl: url, gitUrl: url, gitHost: new URL(url).host };
  return reported.map((address) => (address.org === organization ? reached : address));
}

async function serviceAt(
  api: ConnectedApi,
  orgs: readonly OrganizationAddress[],
  shared: Shared,
): Promise<ConnectedService> {
  const [first] = orgs as [OrganizationAddress];
  const { org } = first;
  const [key, ca] = await Promise.all([findKey(api, org), readCertificate(api)]);
  const tokens = {
    orgs,
    keyId: key?.id ?? '',
    keyFile: key?.file ?? '',
    token: (options: TokenOptions = {}) => signToken(api, { ...options, org: options.org ?? org }, shared),
  };
  return {
    ...first,
    ...tokens,
    ...(ca !== undefined && { ca }),
    adminUrl: `${api.url}${ADMIN_PREFIX}`,
    remote: (repo, options) => remoteUrl(tokens, repo, options),
    env: (options = {}) => environmentOf(tokens, options, { ...wiringOf(first), allowed: allowedScopes(key) }),
    requests: (...given) => connectedRequests(api, given),
    verify: (expectations = {}) =>
      api.ask('POST', '/verify', expectations) as Promise<Awaited<ReturnType<ConnectedService['verify']>>>,
    clock: connectedClock(api),
    state: connectedState(api, org),
    quotas: connectedQuotas(api),
    repository: (name, scope) => connectedRepository(api, scope?.org ?? org, name),
    fault: (...given) => connectedFault(api, given),
    release: async (latch) => {
      const path = `/latches/${encodeURIComponent(latch)}/release`;
      return ((await api.ask('POST', path)) as { readonly released: number }).released;
    },
    scenario: (...given) => connectedScenario(api, given),
    outbox: () => connectedOutbox(api),
    export: (...given) => connectedExport(api, given),
    import: (source, options) => connectedImport(api, [source, options]),
    namespace: (options = {}) => createNamespace(api, options, shared),
    snapshot: async () => ((await api.ask('POST', '/snapshots', {})) as { readonly id: string }).id,
    restore: async (id) => {
      await api.ask('POST', `/snapshots/${encodeURIComponent(id)}/restore`, {});
    },
    reset: async () => {
      await api.ask('POST', '/reset', {});
    },
  };
}

function allowedScopes(key: SigningKey | undefined): readonly string[] {
  return key?.allowedScopes ?? ['*'];
}

/** Returns the certificate that HTTPS clients must trust. Returns undefined if the emulator does not serve HTTPS. */
async function readCertificate(api: AdminApi): Promise<string | undefined> {
  const ca = (await api.ask('GET', '/ca').catch(ifAbsent)) as { readonly certificate: string } | undefined;
  return ca?.certificate;
}

/**
 * Signs a token. If `key` is a test key, the emulator signs the token. If `key` is a file, this process signs it, because
 * the emulator cannot read the file.
 */
async function signToken(
  api: AdminApi,
  { key, faults, scenario, ...options }: TokenOptions & { readonly org: string },
  { operations }: Shared,
): Promise<string> {
  if (key === undefined || fixtureKeys().some(({ id }) => id === key)) {
    const body = { ...options, key, faults, scenario };
    return ((await api.ask('POST', '/tokens', body)) as { readonly token: string }).token;
  }
  const privateKeyPem = readKey(key);
  const { now } = (await api.ask('GET', '/clock')) as { readonly now: string };
  const claims = faultClaims({ faults, scenario }, { where: 'faults', operations });
  return mintToken({ ...options, now: Date.parse(now), claims, privateKeyPem });
}

async function createNamespace(
  api: ConnectedApi,
  { clock, ...options }: NonNullable<Parameters<ConnectedService['namespace']>[0]>,
  shared: Shared,
): Promise<ConnectedNamespace> {
  const time = typeof clock === 'number' ? new Date(clock).toISOString() : clock;
  const made = (await api.ask('POST', '/namespaces', { ...options, clock: time })) as NamespaceView;
  const { id } = made;
  const reported = made.orgs.map(readAddressMember);
  const { protocol, port } = new URL(api.url);
  const [first] = reported as [OrganizationAddress];
  let own: ConnectedApi;
  let addresses: readonly OrganizationAddress[] = reported;
  if (shared.isDirect) {
    const url = (protocol === 'https:' ? first.https?.baseUrl : undefined) ?? wiringOf(first).url;
    own = new ConnectedApi({ ...api.options, url });
  } else {
    // The ports of namespaces are not mapped. The first port selects the namespace by its host name.
    own = new ConnectedApi({ ...api.options, namespace: id });
    addresses = mappedTo(`${protocol}//${id}.ns.localhost${port === '' ? '' : `:${port}`}`, first.org, reported);
  }
  const remove = async (): Promise<void> => {
    await api.ask('DELETE', `/namespaces/${encodeURIComponent(id)}`).catch(ifAbsent);
  };
  return { id, ...(await serviceAt(own, addresses, shared)), close: remove, [Symbol.asyncDispose]: remove };
}

/** Stops the emulator. Resolves when it no longer responds. */
async function shutDown(api: AdminApi): Promise<void> {
  const { saved } = (await api.ask('POST', '/shutdown', {})) as { readonly saved?: false };
  const isRunning = () =>
    api.ask('GET', '/health').then(
      () => true,
      () => false,
    );
  while (await isRunning()) await sleep(PAUSE);
  if (saved === false) throw new Error('The state could not be saved to the folder of the option persist.');
}
