import t from 'tap';
import type { StatePart } from '../../world/state-part.js';
import { WebhookReceiver } from '../operations/webhook-receiver.js';
import { startService } from '../service.js';
import { touchEverything } from './world-story.js';

/**
 * Fields of a world and of the objects in it. A world is the whole state of an emulator. The value says how a restore
 * of a snapshot treats the field:
 *
 *     part       part of the state, which every snapshot contains
 *     snapshot   value inside a part: the same after a restore
 *     derived    computed from the configuration or from other fields, or a reference to another object
 *     transient  running work, which a restore does not bring back
 *
 * The test fails if a field is missing in this table. A field that requests can change and clients can see must be in
 * the snapshot.
 */
const FIELDS: Readonly<Record<string, Readonly<Record<string, 'part' | 'snapshot' | 'derived' | 'transient'>>>> = {
  world: { config: 'derived', engine: 'derived', state: 'derived', background: 'transient', scenarios: 'transient' },
  config: {
    organizations: 'derived',
    seed: 'derived',
    clock: 'derived',
    variants: 'derived',
    limits: 'derived',
    fsck: 'derived',
    forgePrefix: 'derived',
    upstreamHost: 'derived',
    allowUpstream: 'derived',
    allowWebhook: 'derived',
    webhookPrefix: 'derived',
  },
  engine: {
    resources: 'derived',
    gitService: 'derived',
    gitSession: 'derived',
    authenticator: 'derived',
    cursors: 'derived',
    lockCursors: 'derived',
    storeOptions: 'derived',
  },
  background: {
    state: 'derived',
    outbox: 'transient',
    syncs: 'transient',
    latches: 'transient',
    waits: 'transient',
    webhookOutbound: 'transient',
    upstreamOutbound: 'transient',
    isClosed: 'transient',
  },
  state: {
    clock: 'part',
    ids: 'part',
    requests: 'part',
    conversations: 'part',
    settings: 'part',
    organizations: 'part',
    repositories: 'part',
    quotas: 'part',
    webhooks: 'part',
    deliveries: 'part',
    faults: 'part',
    scenarios: 'part',
    searches: 'part',
    journal: 'part',
  },
  'state.clock': {
    mode: 'snapshot',
    time: 'snapshot',
    ahead: 'snapshot',
    waiting: 'transient',
    timer: 'transient',
    moving: 'transient',
    machine: 'derived',
  },
  'state.settings': { value: 'snapshot' },
  'state.ids': { seed: 'derived', counts: 'snapshot' },
  'state.requests': { count: 'snapshot' },
  'state.conversations': { count: 'snapshot' },
  'state.organizations': { value: 'snapshot', clock: 'derived' },
  // A repository handle has no state of its own. It only refers to a record and to content, and both are in the
  // snapshot.
  'state.quotas': { clock: 'derived', quotas: 'snapshot', buckets: 'snapshot' },
  'state.repositories': {
    ports: 'derived',
    home: 'derived',
    records: 'snapshot',
    handles: 'derived',
    kept: 'derived',
    lfs: 'derived',
    isReleased: 'transient',
  },
  'state.webhooks': { value: 'snapshot' },
  'state.deliveries': { byId: 'snapshot', ended: 'snapshot', changed: 'transient' },
  'state.faults': {
    ports: 'derived',
    registered: 'snapshot',
    inBand: 'snapshot',
    plans: 'derived',
    nextExpiry: 'derived',
    counts: 'snapshot',
    inBandCounts: 'snapshot',
    scenarios: 'snapshot',
    named: 'snapshot',
    ordered: 'snapshot',
    changes: 'snapshot',
  },
  'state.scenarios': { loaded: 'snapshot', started: 'derived' },
  'state.searches': { digests: 'snapshot' },
  'state.journal': {
    options: 'derived',
    tokens: 'derived',
    blocks: 'snapshot',
    first: 'snapshot',
    last: 'snapshot',
    endedCount: 'snapshot',
    droppedCount: 'snapshot',
    weight: 'snapshot',
    retryIndex: 'derived',
    lastHead: 'derived',
    shared: 'derived',
    listeners: 'transient',
    closeListeners: 'transient',
  },
  repository: { id: 'derived', home: 'derived', content: 'derived', git: 'derived', detached: 'derived' },
  content: {
    // A snapshot contains the objects that the object store had when the snapshot was taken.
    objects: 'snapshot',
    history: 'derived',
    searchTexts: 'derived',
    responses: 'derived',
    lastKept: 'derived',
    isReleased: 'transient',
  },
};

t.test('every field of a world is in the snapshot or declared as derived', async (t) => {
  const receiver = await WebhookReceiver.start();
  const service = await startService({ clock: Date.parse('2026-01-01T00:00:00Z') });
  t.teardown(async () => {
    await service.emulator.close({ graceMs: 0 });
    await receiver[Symbol.asyncDispose]();
  });
  await touchEverything(service, receiver, 'one');
  const { world } = service;
  const [repository] = world.state.repositories.all();
  const parts = Object.entries(world.state).map(([name, part]) => [`state.${name}`, part] as const);
  const objects: readonly (readonly [string, object])[] = [
    ['world', world],
    ['config', world.config],
    ['engine', world.engine],
    ['background', world.background],
    ['state', world.state],
    ...parts,
    ['repository', repository!],
    ['content', repository!.content],
  ];
  for (const [name, object] of objects) {
    t.strictSame(Reflect.ownKeys(object).sort(), Object.keys(FIELDS[name] ?? {}).sort(), `the fields of ${name}`);
    if (Object.getPrototypeOf(object) !== Object.prototype) {
      t.notMatch(hiddenFields(object), /./, `${name} has no field that this test cannot see`);
    }
  }
  t.strictSame(objects.map(([name]) => name).sort(), Object.keys(FIELDS).sort());
});

t.test('fields of the snapshot are equal after a restore', async (t) => {
  const receiver = await WebhookReceiver.start();
  const service = await startService({ clock: Date.parse('2026-01-01T00:00:00Z') });
  t.teardown(async () => {
    await service.emulator.close({ graceMs: 0 });
    await receiver[Symbol.asyncDispose]();
  });
  await touchEverything(service, receiver, 'one');
  const { state } = service.world;
  const before = valuesOf(state);
  const id = await service.emulator.snapshot();
  await touchEverything(service, receiver, 'two');
  service.emulator.state.change({ organizations: { demo: { forgeApps: 2 } }, limits: { maxFiles: 7 } });
  service.world.scenarios.register({ id: 'story' }, { operations: [], organization: 'demo' });
  service.emulator.quotas.change({ gateway: { capacity: 20, refill: '10/s' } });
  const between = valuesOf(state);
  for (const [name, value] of before) t.strictNotSame(between.get(name), value, `${name} is another in between`);
  await service.emulator.restore(id);
  t.not(service.world.state, state, 'requests under way keep the state they began in');
  const after = valuesOf(service.world.state);
  for (const [name, value] of before) t.strictSame(after.get(name), value, name);
});

/** Returns the values of all fields that a snapshot must contain. The key is the name of the part of the state. */
function valuesOf(state: Readonly<Record<string, StatePart<unknown>>>): Map<string, unknown> {
  const found = new Map<string, unknown>();
  for (const [name, part] of Object.entries(state)) {
    const fields = Object.entries(FIELDS[`state.${name}`]!).filter(([, where]) => where === 'snapshot');
    const values = fields.map(([field]) => [field, plain((part as unknown as Record<string, unknown>)[field])]);
    found.set(name, values);
  }
  return found;
}

/**
 * Copies a value, so that later changes do not affect the copy. Maps become lists. Buffers and keys are not copied,
 * because they never change.
 */
function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return value;
  if (Array.isArray(value)) return value.map(plain);
  if ('entries' in value && typeof value.entries === 'function') {
    return [...(value.entries() as Iterable<unknown>)].map(plain);
  }
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]));
}

/**
 * Returns the names of the `#private` fields of an object's class, separated by spaces. They come from the class's
 * source text, because private fields cannot be listed at run time.
 */
function hiddenFields(object: object): string {
  const source = String(object.constructor);
  return [...source.matchAll(/^\s*(#\w+)\s*(?:=|;)/gm)].map(([, name]) => name).join(' ');
}
