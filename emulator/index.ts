import http from 'node:http';
import { isIP } from 'node:net';
import { HEALTH_PATH } from './admin/routes.js';
import { operations } from './api/index.js';
import { defaultFixtureKey, fixtureRing } from './auth/fixture-keys.js';
import { type GivenOptions, resolveOptions } from './config/options.js';
import { realClock, steppingClock } from './environment/clock.js';
import type { Log } from './environment/log.js';
import type { Schedule } from './git/schedule/schedule.js';
import { ServedHosts } from './http/host.js';
import { createApp } from './service/app.js';
import { Connections, type DrainOptions } from './service/drain.js';
import { createServer, listen } from './service/listen.js';
import { World } from './world/world.js';

export type { EmulatorOptions, GivenOptions } from './config/options.js';

/** Where one organization is reached. Addresses are origins without a trailing slash. */
export interface OrganizationAddress {
  readonly org: string;
  readonly baseUrl: string;
  /** `<gitUrl>/<repo_name>.git` is a remote. */
  readonly gitUrl: string;
}

/** A running emulator. The addresses beside `orgs` are the first organization's. */
export interface Emulator extends OrganizationAddress, AsyncDisposable {
  readonly gitHost: string;
  readonly orgs: readonly (OrganizationAddress & { readonly gitHost: string })[];
  /** Id of the key that `keyFile` belongs to. */
  readonly keyId: string;
  /** Absolute path of the private key that signs for the first organization (PKCS#8 PEM). */
  readonly keyFile: string;
  readonly adminUrl: string;
  readonly world: World;
  /** Stops listening and lets running requests finish for `graceMs` (default: the drain time-out). */
  close(options?: { graceMs?: number }): Promise<void>;
}

/**
 * Starts the whole service in this process and resolves once it answers. Each organization has a port
 * of its own; the first one's is `port`, and there `Host: api.<org>.localhost` reaches the others too.
 * Rejects with the system's error when a port cannot be bound.
 */
export async function startEmulator(
  given: GivenOptions = {},
  ports: { readonly log?: Log; readonly schedule?: Schedule } = {},
): Promise<Emulator> {
  const options = resolveOptions(given);
  const clock = options.clock === 'real' ? realClock : steppingClock(options.clock);
  const world = new World({
    organizations: options.org.map((name, index) => ({
      name,
      keys: fixtureRing(index),
      authenticationAvailable: true,
      hostingEnabled: options.hosting === 'on',
      forgeApps: options.forgeApps,
    })),
    seed: options.seed,
    clock,
    variants: options.variants,
    limits: options.limits,
    fsck: options.fsck,
    forgePrefix: options.forgePrefix,
    outside: options,
    ...ports,
  });
  const drains: ((options: DrainOptions) => Promise<void>)[] = [];
  const { drainTimeout, drainIdleTimeout: idleMs } = options.limits;
  const close = async ({ graceMs = drainTimeout } = {}): Promise<void> => {
    await Promise.all(drains.map((drain) => drain({ graceMs, idleMs })));
    await world.close();
  };
  const orgs: (OrganizationAddress & { gitHost: string })[] = [];
  try {
    for (const [index, org] of options.org.entries()) {
      let origin = '';
      const app = createApp(world, {
        operations,
        organization: org,
        origin: () => origin,
        servedHosts: new ServedHosts([...options.allowedHost, options.host]),
        inBandFaults: isLoopback(options.host),
      });
      const connections = new Connections();
      const server = createServer(connections.serve(app), world);
      connections.watch(server);
      const port = await listen(server, index === 0 ? options.port : 0, options.host);
      drains.push((options) => connections.drain(server, options));
      const gitHost = `${shownHost(options.host)}:${port}`;
      origin = `http://${gitHost}`;
      orgs.push({ org, baseUrl: origin, gitUrl: origin, gitHost });
    }
    await Promise.all(orgs.map(({ baseUrl }) => answerOnce(baseUrl)));
  } catch (error) {
    await close({ graceMs: 0 });
    throw error;
  }
  const key = defaultFixtureKey();
  return {
    ...orgs[0]!,
    orgs,
    keyId: key.id,
    keyFile: key.privateKeyFile,
    adminUrl: `${orgs[0]!.baseUrl}/_emulator`,
    world,
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

/** Asks the listener for its health: what listens but does not answer is not ready. */
function answerOnce(baseUrl: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const question = http.get(`${baseUrl}${HEALTH_PATH}`, { agent: false, headers: { connection: 'close' } });
    question.once('error', reject).once('response', (response) => response.resume().once('end', resolve));
  });
}

/** The address clients use: a wildcard is reached on loopback. */
function shownHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return isIP(host) === 6 ? `[${host}]` : host;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host);
}
