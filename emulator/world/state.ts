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
 * Everything that requests change and clients can see. A snapshot contains all parts by name, so a new part is in every
 * snapshot.
 */
export type WorldState = ReturnType<typeof createState>;

/** Immutable value that a state can be restored to. */
export type WorldSnapshot = { readonly [Name in keyof WorldState]: ReturnType<WorldState[Name]['snapshot']> };

export type StateName = keyof WorldState;

export type StatePorts = Omit<RepositoryPorts, 'clock' | 'ids'>;

/** Creates the state before the first request. */
export function createState(config: WorldConfig, ports: StatePorts) {
  const clock = new WorldClock(config.clock);
  const ids = new Ids(config.seed);
  const { maxJournal, maxJournalBytes } = config.limits;
  const settings = new Settings({ limits: config.limits, variants: config.variants });
  const isRefused = refusedUnder(() => settings.variants);
  return {
    clock,
    ids,
    /** Counts requests in order of arrival. */
    requests: new Counter(),
    /** Counts Git conversations. */
    conversations: new Counter(),
    /** Limits and variants. */
    settings,
    organizations: new Organizations(config.organizations, clock),
    /** Repositories with their refs, objects, notes, deployments, credentials, LFS objects and locks. */
    repositories: new Repositories({ ...ports, clock, ids }),
    quotas: new Quotas(clock),
    webhooks: new Webhooks(new Map()),
    /** Pending and past webhook deliveries. */
    deliveries: new Deliveries(),
    /** Registered and in-band faults, with their counters. */
    faults: new Faults({ clock, seed: config.seed, isRefused }),
    /** Scenarios, with the progress of each. */
    scenarios: new Scenarios(),
    searches: new RepeatedSearches(),
    journal: new Journal({ entries: maxJournal, bytes: maxJournalBytes, key: secretOf(config.seed, 'journal') }),
  } satisfies Parts;
}

export function snapshotOf(state: WorldState): WorldSnapshot {
  const values = Object.entries(state as Parts).map(([name, part]) => [name, part.snapshot()]);
  return Object.fromEntries(values) as WorldSnapshot;
}

/** Restores all parts except those in `without`. */
export function restoreState(state: WorldState, snapshot: WorldSnapshot, without: readonly StateName[] = []): void {
  const values: Readonly<Record<string, unknown>> = snapshot;
  for (const [name, part] of Object.entries(state as Parts)) {
    if (!without.includes(name as StateName)) part.restore(values[name]);
  }
}
