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
 * All state that requests change and clients can observe. A snapshot contains every part of it by name, so a part that
 * is added here is in every later snapshot.
 */
export type WorldState = ReturnType<typeof createState>;

/** Immutable value to which a state can be restored: the value of each of its parts. */
export type WorldSnapshot = { readonly [Name in keyof WorldState]: ReturnType<WorldState[Name]['snapshot']> };

export type StateName = keyof WorldState;

export type StatePorts = Omit<RepositoryPorts, 'clock' | 'ids'>;

/** Creates the state of a world as it is before the first request. */
export function createState(config: WorldConfig, ports: StatePorts) {
  const clock = new WorldClock(config.clock);
  const ids = new Ids(config.seed);
  const { maxJournal, maxJournalBytes } = config.limits;
  const settings = new Settings({ limits: config.limits, variants: config.variants });
  const isRefused = refusedUnder(() => settings.variants);
  return {
    clock,
    ids,
    /** Number of requests to the service so far, from which request ids are made. */
    requests: new Counter(),
    /** Number of fetches and pushes so far, from which the `session-id` of each is made. */
    conversations: new Counter(),
    /** Limits and variants (configurable behaviours), which tests can change. */
    settings,
    organizations: new Organizations(config.organizations, clock),
    /** All repositories with their refs, objects, notes, deployments, credentials, LFS objects and locks. */
    repositories: new Repositories({ ...ports, clock, ids }),
    quotas: new Quotas(clock),
    webhooks: new Webhooks(new Map()),
    /** Deliveries of webhook events that are pending or done. */
    deliveries: new Deliveries(),
    /**
     * Registered faults (simulated failures) and those that clients ask for in requests, with the number of times that
     * each has fired.
     */
    faults: new Faults({ clock, seed: config.seed, isRefused }),
    /** Registered scenarios (scripted changes), with the step that each has reached. */
    scenarios: new Scenarios(),
    searches: new RepeatedSearches(),
    journal: new Journal({ entries: maxJournal, bytes: maxJournalBytes, key: secretOf(config.seed, 'journal') }),
  } satisfies Parts;
}

export function snapshotOf(state: WorldState): WorldSnapshot {
  const values = Object.entries(state as Parts).map(([name, part]) => [name, part.snapshot()]);
  return Object.fromEntries(values) as WorldSnapshot;
}

/** Restores all parts of the state except those whose names are in `without`. */
export function restoreState(state: WorldState, snapshot: WorldSnapshot, without: readonly StateName[] = []): void {
  const values: Readonly<Record<string, unknown>> = snapshot;
  for (const [name, part] of Object.entries(state as Parts)) {
    if (!without.includes(name as StateName)) part.restore(values[name]);
  }
}
