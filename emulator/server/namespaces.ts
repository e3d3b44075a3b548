import type http from 'node:http';
import { readyMembers } from '../admin/address-members.js';
import type { NamespaceControl, NamespaceView } from '../admin/controls.js';
import type { LimitName } from '../config/limits.js';
import { OptionError } from '../config/option-values.js';
import { type GivenOptions, resolveOptions } from '../config/options.js';
import type { VariantName } from '../config/variants.js';
import { problem, translateError } from '../http/problem.js';
import type { CurrentWorld, ForkOptions } from '../world/current-world.js';
import { runningAt } from './address.js';
import type { DrainOptions } from './drain.js';
import { Listeners } from './listeners.js';
import type { SigningKey } from './registered-keys.js';

/**
 * Options of a new namespace (isolated world with its own state and ports). Absent options are copied from the world
 * that creates it.
 */
export interface NamespaceOptions {
  readonly seed?: string | undefined;
  /**
   * Clock of the namespace: `real` for the machine's time, or the start time of a clock that advances by 1 ms per
   * request. The start time is ISO 8601 text or milliseconds since 1970.
   */
  readonly clock?: string | number | undefined;
  readonly variants?: Readonly<Partial<Record<VariantName, string>>> | undefined;
  readonly limits?: Readonly<Partial<Record<LimitName, number>>> | undefined;
  /**
   * Id of a snapshot of the world (state of an emulated service) that creates the namespace. The namespace starts with
   * this state and shares its Git objects. If absent, the namespace starts as the emulator started, including the start
   * scenario.
   */
  readonly snapshot?: string | undefined;
}

/** Isolated world (state of an emulated service) with its own ports. @internal */
export interface NamespaceServer {
  readonly id: string;
  readonly listeners: Listeners;
  readonly current: CurrentWorld;
  /** World whose admin API (which controls the emulator) created the namespace. */
  readonly madeFrom: CurrentWorld;
  /** Removes the namespace (isolated world): closes its ports and frees its memory. */
  close(options?: { graceMs?: number }): Promise<void>;
}

/** @internal */
export interface NamespacePorts {
  /**
   * Opens the ports of a namespace (isolated world with its own ports). Rejects with the error of the operating system.
   */
  readonly open: (listeners: Listeners, namespace: Pick<NamespaceServer, 'id' | 'current' | 'close'>) => Promise<void>;
  /**
   * Brings a new world (state of an emulated service) into the state in which the emulator started. Not called for a
   * copy of a snapshot. Throws `OptionError` if the options make this impossible.
   */
  readonly begin: (current: CurrentWorld, given: NamespaceOptions) => Promise<void>;
  readonly drain: DrainOptions;
  /** Maximum number of namespaces (isolated worlds with their own ports) at the same time. */
  readonly maxNamespaces: number;
}

/**
 * Names of limits that apply to the whole process. A namespace (isolated world with its own ports) cannot change them.
 */
const SHARED_LIMITS: readonly string[] = ['maxHeldBytes', 'cacheBytes', 'maxNamespaces'];

/** All namespaces (isolated worlds with their own ports) of an emulator, by id. @internal */
export class Namespaces {
  readonly #byId = new Map<string, NamespaceServer>();
  #lastNumber = 0;
  #isClosed = false;

  constructor(
    private readonly root: CurrentWorld,
    private readonly ports: NamespacePorts,
  ) {}

  /**
   * Returns the namespaces (isolated worlds with their own ports) that the world `from` created, oldest first. For the
   * emulator's first world, returns all namespaces.
   */
  list(from: CurrentWorld = this.root): NamespaceServer[] {
    return [...this.#byId.values()].filter(({ madeFrom }) => from === this.root || from === madeFrom);
  }

  /** Returns the namespace with this id if `list(from)` contains it; otherwise undefined. */
  get(id: string, from: CurrentWorld = this.root): NamespaceServer | undefined {
    const found = this.#byId.get(id);
    return from === this.root || from === found?.madeFrom ? found : undefined;
  }

  /**
   * Creates a namespace (isolated world) and opens its ports. If the options name a snapshot of the world `from`, the
   * namespace starts from it. Throws `bad_request` for invalid options. Throws `service_unavailable` if no port is free
   * or the maximum number of namespaces is reached.
   */
  async create(given: NamespaceOptions = {}, from: CurrentWorld = this.root): Promise<NamespaceServer> {
    const options = readForkOptions(given, from);
    if (this.#byId.size >= this.ports.maxNamespaces) {
      throw problem(
        'service_unavailable',
        `Namespace limit (${this.ports.maxNamespaces}, --max-namespaces) reached. Remove one with DELETE /_emulator/namespaces/ID.`,
      );
    }
    const id = `ns-${++this.#lastNumber}`;
    const current = from.fork(options);
    const listeners = new Listeners();
    let closed: Promise<void> | undefined;
    const close: NamespaceServer['close'] = ({ graceMs = this.ports.drain.graceMs } = {}) => {
      closed ??= this.#close(id, current, listeners, graceMs);
      return closed;
    };
    const namespace = { id, listeners, current, madeFrom: from, close };
    this.#byId.set(id, namespace);
    const begin = async () => given.snapshot === undefined && this.ports.begin(current, given);
    try {
      await translateError(OptionError, begin, ({ message }) => problem('bad_request', message));
      await this.ports.open(listeners, namespace).catch((error: Error) => {
        throw problem(
          'service_unavailable',
          `The namespace could not listen on any port of --namespace-ports: ${error.message}.`,
        );
      });
      if (this.#isClosed) throw problem('service_unavailable', 'The emulator is shutting down.');
    } catch (error) {
      await close({ graceMs: 0 });
      throw error;
    }
    return namespace;
  }

  /** Removes all namespaces (isolated worlds with their own ports). Later calls of `create` fail. */
  async close(options: { graceMs?: number } = {}): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.list().map((namespace) => namespace.close(options)));
  }

  /**
   * Returns a request listener for the emulator's first port. If `Host` names an existing namespace (isolated world),
   * the request goes to that namespace. All other requests go to `own`, which refuses those for namespaces that do not
   * exist.
   */
  dispatch(own: http.RequestListener): http.RequestListener {
    return (request, response) => {
      const app = this.#appOf(request.headers.host) ?? own;
      return app(request, response);
    };
  }

  /**
   * True if namespaces (isolated worlds with their own ports) exist. If false, no request can be for a namespace, so
   * `Host` need not be read.
   */
  get hasAny(): boolean {
    return this.#byId.size > 0;
  }

  /**
   * Returns true if `host` names an existing namespace (isolated world with its own ports). `host` is the `Host` header
   * of a request.
   */
  isNamedBy(host: string | undefined): boolean {
    return this.#appOf(host) !== undefined;
  }

  #appOf(host: string | undefined): http.RequestListener | undefined {
    if (this.#byId.size === 0 || host === undefined) return undefined;
    const id = NAMESPACE_HOST.exec(host)?.[1]?.toLowerCase();
    return id === undefined ? undefined : this.#byId.get(id)?.listeners.app;
  }

  async #close(id: string, current: CurrentWorld, listeners: Listeners, graceMs: number): Promise<void> {
    this.#byId.delete(id);
    // The world is closed before the ports, so that writes are refused at once. Requests that only read continue until
    // the drain (shutdown of the ports) ends.
    const closed = current.close();
    await listeners.drain({ ...this.ports.drain, graceMs });
    await closed;
  }
}

const NAMESPACE_HOST = /^([a-z0-9-]+)\.ns\.localhost\.?(?::\d*)?$/i;

function resolve(given: GivenOptions): ReturnType<typeof resolveOptions> {
  try {
    return resolveOptions(given);
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    throw problem('bad_request', error.message);
  }
}

function readForkOptions({ snapshot, limits = {}, ...given }: NamespaceOptions, from: CurrentWorld): ForkOptions {
  const shared = Object.keys(limits).find((name) => SHARED_LIMITS.includes(name));
  if (shared !== undefined)
    throw problem(
      'bad_request',
      `limits.${shared} is a limit of the whole process. It can be set only when the emulator starts, not for a namespace.`,
    );
  const known = from.snapshots().some(({ id }) => id === snapshot);
  if (snapshot !== undefined && !known) {
    throw problem(
      'bad_request',
      `snapshot: the snapshot ${JSON.stringify(snapshot)} does not exist. GET /_emulator/snapshots lists all snapshots.`,
    );
  }
  const resolved = resolve({ ...given, limits } as GivenOptions);
  const pick = <Values extends object>(values: Values, wanted: object): Partial<Values> =>
    Object.fromEntries(Object.entries(values).filter(([name]) => name in wanted)) as Partial<Values>;
  return {
    snapshot,
    ...(given.seed !== undefined && { seed: resolved.seed }),
    ...(given.clock !== undefined && { clock: resolved.clock }),
    limits: pick(resolved.limits, limits),
    variants: pick(resolved.variants, typeof given.variants === 'object' ? given.variants : {}),
  };
}

/**
 * Returns a function that provides the namespace functions of a world (state of an emulated service). With them, the
 * world's admin API creates, lists and removes namespaces. @internal
 */
export function namespaceControl(
  namespaces: Namespaces,
  key: SigningKey,
  isSecure: boolean,
): (world: CurrentWorld) => NamespaceControl {
  const recordOf = ({ id, listeners }: NamespaceServer): NamespaceView => ({
    id,
    ...readyMembers(runningAt(listeners.all, key, isSecure)),
    pid: process.pid,
  });
  return (world) => ({
    make: async (options) => recordOf(await namespaces.create(options, world)),
    list: () => namespaces.list(world).map(recordOf),
    get: (id) => {
      const namespace = namespaces.get(id, world);
      return namespace && recordOf(namespace);
    },
    remove: async (id) => {
      const namespace = namespaces.get(id, world);
      await namespace?.close();
      return namespace !== undefined;
    },
  });
}
