import type { AuthenticationRequest } from '../auth/authenticate.js';
import type { Surface } from '../auth/credentials.js';
import type { StateChanges } from '../changes/state-changes.js';
import type { Limits } from '../config/limits.js';
import type { Variants } from '../config/variants.js';
import { textOf } from '../git/object/bytes.js';
import type { RefChange } from '../git/refs/ref-change.js';
import type { RepositoryRecord } from '../repositories/repository.js';
import { ScenarioRunner } from '../scenarios/scenario-runner.js';
import { pushEvent } from '../webhooks/events.js';
import { Background } from './background.js';
import { changeState } from './change-state.js';
import type { WorldConfig } from './config.js';
import type { Engine } from './engine.js';
import type { Organization } from './organizations.js';
import { createState, restoreState, type StateName, snapshotOf, type WorldSnapshot, type WorldState } from './state.js';

export interface WorldOrigin {
  /** Snapshot at which the state starts; if absent, the state before the first request. */
  readonly snapshot?: WorldSnapshot | undefined;
  /** Parts that start in the state before the first request, despite the snapshot. */
  readonly without?: readonly StateName[] | undefined;
}

/**
 * State of one emulated service, with its configuration and engine. Time, ids and secrets come from here, so the same
 * seed, clock and requests result in the same bytes.
 *
 * A request belongs to the world in which it began. A restore creates another world with the same configuration and
 * engine and its own state, so running requests of the previous world cannot change it.
 */
export class World {
  readonly state: WorldState;
  readonly background: Background;
  readonly scenarios: ScenarioRunner;

  constructor(
    readonly config: WorldConfig,
    readonly engine: Engine,
    { snapshot, without }: WorldOrigin = {},
  ) {
    this.state = createState(config, {
      engine,
      requireCurrent: () => this.background.requireCurrent(),
      moved: (record, changes) => this.notifyMoved(record, changes),
      created: (record) => this.notifyCreated(record),
    });
    this.background = new Background(config, engine, this.state);
    this.scenarios = new ScenarioRunner(this);
    if (!snapshot) return;
    restoreState(this.state, snapshot, without);
    this.background.outbox.resume();
    this.scenarios.resume();
  }

  /** Current limits. Limits that cannot be changed have their configured values. */
  get limits(): Limits {
    return this.state.settings.limits;
  }

  get variants(): Variants {
    return this.state.settings.variants;
  }

  /** Returns the input for authenticating a credential that was sent to an organization now. */
  authenticationOf(
    authorization: string | undefined,
    surface: Surface,
    { name, hostingEnabled }: Organization,
  ): AuthenticationRequest {
    return {
      authorization,
      surface,
      tenant: name,
      now: this.state.clock.now(),
      hosting: hostingEnabled,
      variants: this.variants,
      ringOf: (issuer) => this.state.organizations.get(issuer)?.keys,
    };
  }

  /** Returns the id of a new request. Ids are numbered in order of arrival; journal, log and `X-Request-Id` use the same one. */
  nextRequestId(): string {
    return `req-${String(this.state.requests.next()).padStart(8, '0')}`;
  }

  /** Returns the `session-id` of a new Git conversation. */
  nextSessionId(): string {
    return `${this.engine.gitSession}.${this.state.conversations.next()}`;
  }

  changeState(organization: string, changes: StateChanges): void {
    changeState(this, organization, changes);
  }

  /** Releases a latch, and ends the states that wait for it. Returns the number of requests and states. */
  releaseLatch(name: string): number {
    return this.background.latches.release(name) + endStates(this.state, name);
  }

  snapshot(): WorldSnapshot {
    return snapshotOf(this.state);
  }

  /** Closes the world: writes are refused, its memory is released, and running readers keep their data. */
  async close(): Promise<void> {
    const closed = this.background.close();
    this.state.repositories.release();
    await closed;
  }

  private notifyCreated({ organization, name }: RepositoryRecord): void {
    if (!this.state.scenarios.isIdle) this.scenarios.note({ organization, repository: name });
  }

  private notifyMoved(record: RepositoryRecord, changes: readonly RefChange[]): void {
    if (!this.state.scenarios.isIdle) {
      const refs = changes.map(({ name }) => textOf(name));
      this.scenarios.note({ organization: record.organization, repository: record.name, refs });
    }
    this.announcePushes(record, changes);
  }

  private announcePushes(record: RepositoryRecord, changes: readonly RefChange[]): void {
    const { webhooks, clock } = this.state;
    if (webhooks.size === 0) return;
    for (const change of changes) {
      const event = pushEvent(record, change, clock.now());
      if (event) this.background.announce(event);
    }
  }
}

/** Ends all states that wait for this signal. Returns their number. */
export function endStates({ organizations, repositories }: WorldState, signal: string): number {
  let ended = organizations.signal(signal);
  for (const repository of repositories.all()) {
    const { override, thaw } = repository.record;
    if (override?.ends?.signal === signal) repository.update({ override: undefined });
    else if (thaw?.ends?.signal === signal) repository.restore();
    else continue;
    ended++;
  }
  return ended;
}
