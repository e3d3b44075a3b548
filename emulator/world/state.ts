import { Faults } from '../faults/registry.js';
import { Counter } from '../ids/counter.js';
import { Ids, secretOf } from '../ids/ids.js';
import { Journal } from '../journal/journal.js';
import { Quotas } from '../quotas/quotas.js';
import { refusedUnder } from '../repositories/lifecycle.js';
import { Scenarios } from '../scenarios/scenarios.js';
import { WorldClock } from '../time/clock.js';
import { Deliveries } from '../webhooks/delivery.js';
import type { WorldConfig } from './config.js';
import { Organizations } from './organizations.js';
import { RepeatedSearches } from './repeated-searches.js';
import { Repositories, type RepositoryPorts } from './repositories.js';
import { Settings } from './settings.js';
import type { StatePart } from './state-part.js';
import { Webhooks } from './webhooks.js';

type Parts = Readonly<Record<string, StatePart<unknown>>>;

/**
 * All state that requests change and clients can observe. A snapshot contains every part by name, so snapshots include
 * new parts automatically.
 */
export type WorldState = ReturnType<typeof createState>;

/** Immutable snapshot from which a state can be restored. It has the value of each part. */
export type WorldSnapshot = { readonly [Name in keyof WorldState]: ReturnType<WorldState[Name]['snapshot']> };

export type StateName = keyof WorldState;

export type StatePorts = Omit<RepositoryPorts, 'clock' | 'ids'>;

/** Creates the state of a world before the first request. */
export function createState(config: WorldConfig, ports: StatePorts) {
  const clock = new WorldClock(config.clock);
  const ids = new Ids(config.seed);
  const { maxJournal, maxJournalBytes } = config.limits;
  const settings = new Settings({ limits: config.limits, variants: config.variants });
  const isRefused = refusedUnder(() => settings.variants);
  return {
    clock,
    ids,
    /** Number of requests so far. Request ids are made from it. */
    requests: new Counter(),
    /** Number of fetches and pushes so far. Their `session-id` is made from it. */
    conversations: new Counter(),
    /** Limits and variants (configurable behaviours), which tests can change. */
    settings,
    organizations: new Organizations(config.organizations, clock),
    /** All repositories with their refs, objects, notes, deployments, credentials, LFS objects and locks. */
    repositories: new Repositories({ ...ports, clock, ids }),
    quotas: new Quotas(clock),
    webhooks: new Webhooks(new Map()),
    /** Pending and finished deliveries of webhook events. */
    deliveries: new Deliveries(),
    /**
     * Faults (simulated failures), with the number of times that each has fired. They are registered, or clients ask
     * for them in requests.
     */
    faults: new Faults({ clock, seed: config.seed, isRefused }),
    /** Registered scenarios (scripted changes), with the progress of each. */
    scenarios: new Scenarios(),
    searches: new RepeatedSearches(),
    journal: new Journal({ entries: maxJournal, bytes: maxJournalBytes, key: secretOf(config.seed, 'journal') }),
  } satisfies Parts;
}

export function snapshotOf(state: WorldState): WorldSnapshot {
  const values = Object.entries(state as Parts).map(([name, part]) => [name, part.snapshot()]);
  return Object.fromEntries(values) as WorldSnapshot;
}

/** Restores all parts of the state except the parts named in `without`. */
export function restoreState(state: WorldState, snapshot: WorldSnapshot, without: readonly StateName[] = []): void {
  const values: Readonly<Record<string, unknown>> = snapshot;
  for (const [name, part] of Object.entries(state as Parts)) {
    if (!without.includes(name as StateName)) part.restore(values[name]);
  }
}
