import type http from 'node:http';
import { addressMember } from '../admin/address-members.js';
import { AdminToken } from '../admin/guard.js';
import { prepareVerifier } from '../auth/verify.js';
import { isLoopback } from '../config/loopback.js';
import type { EmulatorOptions } from '../config/options.js';
import { ServedHosts } from '../http/host.js';
import type { Operation } from '../operation/operation.js';
import { shareRoutes } from '../pipeline/pipeline.js';
import type { Scenario } from '../scenarios/scenario.js';
import type { MachineTime } from '../tls/renewal.js';
import { worldOptions } from '../world/config.js';
import { CurrentWorld } from '../world/current-world.js';
import type { ProcessPorts } from '../world/process-resources.js';
import { addressOf } from './address.js';
import { type ProvidedAdminToken, provideAdminToken } from './admin-token.js';
import { type BuiltInHosts, givenHosts, provideTls, publicHosts, shownAddress } from './https.js';
import type { KeptState } from './kept-state.js';
import { listen } from './listen.js';
import { checkHealth, type Listener, Listeners, listenOnFirst } from './listeners.js';
import { type NamespaceServer, Namespaces, namespaceControl } from './namespaces.js';
import { hasTestKeys, refusesTestKeys, registeredKeys, type SigningKey, signingKeyOf } from './registered-keys.js';
import { beginScenario, readStartScenario, scenarioUnder } from './start-scenario.js';

/**
 * Running emulator. Each organization has its own port; all these ports serve one world (state of the service).
 * Namespaces are isolated worlds with their own ports.
 */
export interface Server {
  /** Addresses of the ports, in the order of the organizations. */
  readonly listeners: readonly [Listener, ...Listener[]];
  readonly current: CurrentWorld;
  readonly namespaces: Namespaces;
  /** All operations of the API that the service handles. */
  readonly operations: readonly Operation[];
  /** Path of the file with the generated admin token; undefined if no token was generated. */
  readonly adminTokenFile: string | undefined;
  /** Certificate (PEM) that clients must trust. Undefined unless HTTPS is served to all clients. */
  readonly trust: string | undefined;
  /** Key with which users can sign tokens of the first organization. */
  readonly signingKey: SigningKey;
  /**
   * Stops listening, waits for running requests, then frees all memory. Waits at most `graceMs` milliseconds; the
   * default is the configured drain timeout.
   */
  close(options?: { graceMs?: number }): Promise<void>;
}

export interface ServerPorts extends ProcessPorts {
  /**
   * Called when everything is closed, by `Server.close` or by the request `POST /_emulator/shutdown`. `isSaved` is
   * false if the state could not be saved to the folder of the option `persist`.
   */
  readonly onClosed?: (isSaved: boolean) => void;
  /** Called with a warning for the user, for example that the state could not be saved. */
  readonly onWarning?: (warning: string) => void;
  /** Reports the progress of an import: the number of bytes of the state read so far, and the total. */
  readonly onImport?: (bytes: number, total: number) => void;
  /** Host names that are fixed in client programs. The emulator serves HTTPS for them. */
  readonly hosts?: BuiltInHosts;
  /** Clock that decides when certificates are renewed. Default: the machine's clock. */
  readonly machineTime?: MachineTime;
}

/**
 * Starts the emulator. Resolves when it responds to requests. Rejects with the error of the operating system if a port
 * cannot be bound, and with `OptionError` if an option cannot be used.
 */
export async function startServer(
  given: EmulatorOptions,
  operations: readonly Operation[],
  ports: ServerPorts = {},
): Promise<Server> {
  const { options: startOptions, scenario } = await readStartScenario(given, operations);
  // The module is imported only if the emulator starts with a saved state, to keep other starts fast.
  const saving =
    startOptions.persist !== undefined || startOptions.import !== undefined
      ? await import('./kept-state.js')
      : undefined;
  const saved = await saving?.readSavedState(startOptions);
  const options = saved?.options ?? startOptions;
  const { host, limits } = options;
  const secure = await provideTls(options, ports.hosts, ports.machineTime);
  const current = createWorld(options, ports);
  const shared = shareRoutes({ operations });
  const closing = new AbortController();
  const drain = { graceMs: limits.drainTimeout, idleMs: limits.drainIdleTimeout };
  const listeners = new Listeners();
  let admin: ProvidedAdminToken | undefined;
  let kept: KeptState | undefined;
  /** Promise of the work that must be done only once, even if `close` is called several times. */
  let ended: Promise<void> | undefined;
  const close = async ({ graceMs = drain.graceMs } = {}): Promise<void> => {
    closing.abort();
    secure?.secured.renewal?.close();
    // Requests that a fault (simulated failure) makes wait are released first, because they would never end.
    current.world.background.endWaits();
    await Promise.all([namespaces.close({ graceMs }), listeners.drain({ ...drain, graceMs })]);
    ended ??= end();
    await ended;
  };
  const end = async (): Promise<void> => {
    const isSaved = (await kept?.close()) ?? true;
    await current.close();
    await admin?.remove();
    ports.onClosed?.(isSaved);
  };
  const builtIn = ports.hosts && givenHosts(ports.hosts, options.org);
  const trust = options.tls ? secure!.trust : undefined;
  const common = ({ config }: CurrentWorld) => ({
    operations,
    host,
    servedHosts: new ServedHosts([...options.allowedHost, host, ...publicHosts(options)]),
    givenHosts: builtIn,
    secured: secure?.secured,
    cors: options.cors,
    inBandFaults: options.inbandFaults ?? isLoopback(host),
    adversary: options.adversarial ? config.seed : undefined,
    adminToken: admin?.token === undefined ? undefined : new AdminToken(admin.token),
  });
  const addressesOf =
    ({ all }: Listeners, namespace?: string) =>
    () => ({
      ...(namespace !== undefined && { namespace }),
      orgs: all.map((listener) => addressMember(addressOf(listener, options.tls))),
      hosts: [...(all === listeners.all ? (builtIn ?? []) : [])].map(([name, { organization = options.org[0]! }]) => ({
        host: name,
        org: organization,
      })),
    });
  const begin = (own: CurrentWorld, story: Scenario) =>
    beginScenario(own, story, { operations, organization: options.org[0]! });
  const namespaces = new Namespaces(current, {
    drain,
    maxNamespaces: limits.maxNamespaces,
    open: (opened, namespace) => openNamespace(opened, namespace),
    begin: async (own, over) => scenario && begin(own, scenarioUnder(scenario, over)),
  });
  const control = namespaceControl(namespaces, signingKeyOf(options), options.tls);
  const controlsOf = (own: CurrentWorld, opened: Listeners, namespace?: string) => ({
    hasTestKeys: hasTestKeys(options),
    refusesTestKeys: refusesTestKeys(options),
    closing: closing.signal,
    namespaces: control(own),
    addresses: addressesOf(opened, namespace),
    trust,
  });
  const openNamespace = async (
    opened: Listeners,
    { id, current: own, close: remove }: Pick<NamespaceServer, 'id' | 'current' | 'close'>,
  ): Promise<void> => {
    const controls = { ...controlsOf(own, opened, id), shutDown: () => void remove() };
    const bind = (server: http.Server) => listenOnFirst(server, options.namespacePorts, host);
    await opened.open(own, { ...common(own), namespace: id, controls, bind }, shared);
  };
  try {
    if (saved) {
      const { onWarning: warn = () => {}, onImport } = ports;
      kept = await saving!.openKeptState(current, saved, { warn, onImport });
    }
    if (scenario) await begin(current, scenario);
    await kept?.begin();
    admin = await provideAdminToken(options);
    const controls = {
      ...controlsOf(current, listeners),
      shutDown: async () => {
        const isSaved = (await kept?.save()) ?? true;
        void close();
        return isSaved;
      },
    };
    const bind = (server: http.Server, index: number, isSecure: boolean) =>
      listen(server, index > 0 ? 0 : isSecure ? options.tlsPort : options.port, host);
    const shown = shownAddress(options);
    await listeners.open(current, { ...common(current), controls, bind, shown, others: namespaces }, shared);
    ports.hosts?.onListening(listeners.all[0]!.secure!.port, secure!.trust);
    await Promise.all(listeners.all.map(checkHealth));
    // The first token check is slow, so it is prepared now. The preparation begins after the start was reported, so
    // that nothing waits for it.
    setImmediate(() => void prepareVerifier(current.config.organizations[0]!.keys));
  } catch (error) {
    await close({ graceMs: 0 });
    throw error;
  }
  return {
    listeners: listeners.all as readonly Listener[] as readonly [Listener, ...Listener[]],
    current,
    namespaces,
    operations,
    adminTokenFile: admin.file,
    trust,
    signingKey: signingKeyOf(options),
    close,
  };
}

function createWorld(options: EmulatorOptions, ports: ProcessPorts): CurrentWorld {
  const { org, hosting, forgeApps } = options;
  const rings = registeredKeys(options);
  const organizations = org.map((name, index) => ({
    name,
    keys: rings[index]!,
    authenticationAvailable: true,
    hostingEnabled: hosting === 'on',
    forgeApps,
  }));
  return new CurrentWorld({ organizations, ...worldOptions(options) }, ports);
}
