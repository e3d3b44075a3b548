import { Readable } from 'node:stream';
import type { DeliveryRecord } from '../admin/delivery-record.js';
import type { ScenarioRecord } from '../admin/scenarios.js';
import { type AdminApi, ifAbsent, withQuery } from '../connect/admin-api.js';
import type { Seeded } from '../sources/seeded.js';
import type { ConnectedFault, ConnectedRepository, ConnectedScenario, ConnectedService } from './connected-types.js';
import type { ScenarioView } from './scenario.js';
import type { Imported } from './transfer.js';
import { deliveryOf, type WebhookDelivery } from './webhook-delivery.js';

/** Returns the clock of an emulator in another process. @internal */
export function connectedClock(api: AdminApi): ConnectedService['clock'] {
  type Record = { readonly mode: Awaited<ConnectedService['clock']['mode']>; readonly now: string };
  const read = () => api.ask('GET', '/clock') as Promise<Record>;
  const change: ConnectedService['clock']['change'] = async (changes) => {
    const { now, advance, ...others } = changes;
    await api.ask('PATCH', '/clock', {
      ...others,
      ...(now !== undefined && { now: typeof now === 'string' ? now : new Date(now).toISOString() }),
      ...(advance !== undefined && { advance: typeof advance === 'string' ? advance : `${advance}ms` }),
    });
  };
  return {
    get mode() {
      return read().then(({ mode }) => mode);
    },
    now: async () => Date.parse((await read()).now),
    advance: (duration) => change({ advance: duration }),
    freeze: (now) => change({ mode: 'frozen', now }),
    tick: (now) => change({ mode: 'tick', now }),
    real: () => change({ mode: 'real' }),
    set: (now) => change({ now }),
    change,
  };
}

/** Returns the simulated state of an emulator in another process. @internal */
export function connectedState(api: AdminApi, firstOrg: string): ConnectedService['state'] {
  const path = (org = firstOrg) => withQuery('/state', { organization: org });
  return {
    read: (scope) =>
      api.ask('GET', path(scope?.org)) as Promise<Awaited<ReturnType<ConnectedService['state']['read']>>>,
    change: async (changes, scope) => {
      await api.ask('PATCH', path(scope?.org), changes);
    },
  };
}

/** Returns the request quotas of an emulator in another process. @internal */
export function connectedQuotas(api: AdminApi): ConnectedService['quotas'] {
  type Quotas = Awaited<ReturnType<ConnectedService['quotas']['read']>>;
  return {
    read: async () => ((await api.ask('GET', '/quotas')) as { readonly quotas: Quotas }).quotas,
    change: async (quotas) => {
      await api.ask('PATCH', '/quotas', { quotas });
    },
  };
}

/**
 * Reads and removes one item of a list of the admin API. `latest` is the item when it was created. After its removal,
 * reading returns the last known item. Requests for other reasons than its absence are rejected.
 */
function itemAt<Item>(api: AdminApi, path: string, latest: Item) {
  let last = latest;
  const read = async (): Promise<Item> => {
    last = ((await api.ask('GET', path).catch(ifAbsent)) as Item | undefined) ?? last;
    return last;
  };
  const remove = async (): Promise<void> => {
    await read();
    await api.ask('DELETE', path).catch(ifAbsent);
  };
  return { read, remove };
}

interface FaultRecord {
  readonly id: string;
  readonly fired: number;
  readonly requestIds: readonly string[];
}

/** Injects a fault into an emulator in another process, and returns its handle. @internal */
export async function connectedFault(
  api: AdminApi,
  [spec]: Parameters<ConnectedService['fault']>,
): Promise<ConnectedFault> {
  const body = typeof spec === 'string' ? { spec } : spec;
  const added = (await api.ask('POST', '/faults', body)) as FaultRecord;
  const path = `/faults/${encodeURIComponent(added.id)}`;
  const { read, remove } = itemAt(api, path, added);
  const setEnabled = async (enabled: boolean): Promise<boolean> => {
    const patched = await api.ask('PATCH', path, { enabled }).catch(ifAbsent);
    return patched !== undefined;
  };
  return {
    id: added.id,
    get fired() {
      return read().then(({ fired }) => fired);
    },
    requests: async () => [...(await read()).requestIds],
    disable: async () => {
      await setEnabled(false);
    },
    enable: async () => {
      if (!(await setEnabled(true))) throw new Error(`The fault ${added.id} was removed, so it cannot be enabled.`);
    },
    remove,
    [Symbol.asyncDispose]: remove,
  };
}

/** Registers a scenario at an emulator in another process, starts it, and returns its handle. @internal */
export async function connectedScenario(
  api: AdminApi,
  [source, { start = true } = {}]: Parameters<ConnectedService['scenario']>,
): Promise<ConnectedScenario> {
  const added = (await addScenario(api, source, start)) as ScenarioRecord;
  const { read, remove } = itemAt(api, `/scenarios/${encodeURIComponent(added.id)}`, added);
  return { id: added.id, read: async () => viewOf(await read()), remove, [Symbol.asyncDispose]: remove };
}

async function addScenario(
  api: AdminApi,
  source: Parameters<ConnectedService['scenario']>[0],
  start: boolean,
): Promise<unknown> {
  if (typeof source !== 'string') return api.ask('POST', '/scenarios', { ...source, start });
  const path = `/scenarios/${encodeURIComponent(source)}`;
  const found = (await api.list('/scenarios')).find(({ id }) => id === source);
  if (found) return start ? api.ask('POST', `${path}/start`) : found;
  // The module is imported on demand, because few programs read scenario files.
  const { findScenarioFile, parseScenarioText, readText } = await import('../scenarios/scenario-file.js');
  const file = await findScenarioFile(source);
  const value = await parseScenarioText(readText(file), file);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${file} must contain a scenario, which is an object with the member id.`);
  return api.ask('POST', '/scenarios', { ...value, start });
}

function viewOf({
  id,
  about,
  started,
  steps_done,
  steps,
  due,
  faults,
  waiting,
  problems,
}: ScenarioRecord): ScenarioView {
  return {
    id,
    ...(about !== undefined && { about }),
    isStarted: started,
    stepsDone: steps_done,
    steps,
    ...(due !== null && { due }),
    faults,
    waiting,
    problems,
  };
}

/** Reads the outbox of an emulator in another process. @internal */
export async function connectedOutbox(api: AdminApi): Promise<WebhookDelivery[]> {
  const items = await api.list('/webhooks/outbox');
  return items.map((item) => deliveryOf(item as unknown as DeliveryRecord));
}

/** Reads the journal of an emulator in another process. @internal */
export async function connectedRequests(
  api: AdminApi,
  [query = {}]: Parameters<ConnectedService['requests']>,
): ReturnType<ConnectedService['requests']> {
  const { git = {}, ...rest } = query;
  const members = [...Object.entries(rest), ...Object.entries(git).map(([name, value]) => [`git.${name}`, value])];
  const parameters = members.filter(([, value]) => value !== undefined).map(([name, value]) => [name, String(value)]);
  let dropped = 0;
  const entries = await api.list('/requests', Object.fromEntries(parameters), (page) => {
    dropped = page.dropped ?? 0;
  });
  return Object.defineProperty(entries, 'dropped', { value: dropped }) as unknown as Awaited<
    ReturnType<ConnectedService['requests']>
  >;
}

interface ImportRecord {
  readonly content: 'world' | 'repository';
  readonly repositories: number;
  readonly repository?: Omit<Seeded, 'isNew' | 'isFiles' | 'defaultBranch' | 'commit'> & {
    readonly is_new: boolean;
    readonly default_branch: string | null;
    readonly commit: string | null;
  };
}

async function sendArchive(api: AdminApi, archive: AsyncIterable<Uint8Array>, isFiles: boolean): Promise<Imported> {
  const sent = (await api.ask('POST', '/import', Readable.from(archive))) as ImportRecord;
  const { content, repositories, repository } = sent;
  if (!repository) return { content, repositories };
  const { is_new, default_branch, commit, ...rest } = repository;
  const seeded = { ...rest, isNew: is_new, isFiles, defaultBranch: default_branch ?? undefined };
  return { content, repositories, repository: { ...seeded, commit: commit ?? undefined } };
}

/** Returns an export of an emulator in another process as a tar archive. @internal */
export async function connectedExport(
  api: AdminApi,
  [{ includeSecrets = false } = {}]: Parameters<ConnectedService['export']>,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of api.receive('/export', { include_secrets: includeSecrets })) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Imports an export or a repository into an emulator in another process. @internal */
export async function connectedImport(
  api: AdminApi,
  [source, { repo, org } = {}]: Parameters<ConnectedService['import']>,
): Promise<Imported> {
  const { archiveOfSource, nameOf, openState, archiveOf } = await import('../exports/open-state.js');
  if (source instanceof Uint8Array) {
    if (repo !== undefined)
      throw new Error('The archive is the state of an emulator, which cannot be imported as one repository.');
    return sendArchive(api, Readable.from([source]), false);
  }
  const path = String(source);
  if (await openState(path)) return sendArchive(api, await archiveOf(path, { name: repo, organization: org }), false);
  const target = { name: repo ?? nameOf(path), organization: org };
  const { archive, isFiles } = await archiveOfSource(path, target);
  return sendArchive(api, archive, isFiles);
}

/** Returns the handle of a repository of an emulator in another process. @internal */
export function connectedRepository(api: AdminApi, org: string, name: string): ConnectedRepository {
  return {
    org,
    name,
    seed: async (source, options) => {
      const { archiveOfSource } = await import('../exports/open-state.js');
      const { archive, isFiles } = await archiveOfSource(source, { name, organization: org }, options);
      return (await sendArchive(api, archive, isFiles)).repository!;
    },
  };
}
