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
  /** Where the state starts; without it, as before the first request. */
  readonly snapshot?: WorldSnapshot | undefined;
  /** Parts that start as before the first request all the same. */
  readonly without?: readonly StateName[] | undefined;
}

/**
 * What one emulated service knows and works with. Time, ids and secrets come from here, so that the same seed, clock and
 * requests give the same bytes.
 *
 * A request belongs to the world it began in. A restore makes another world with the same configuration and engine, and
 * a state of its own: what is still under way in the one before cannot reach it.
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
      moved: (record, changes) => this.tellMoved(record, changes),
      created: (record) => this.tellCreated(record),
    });
    this.background = new Background(config, engine, this.state);
    this.scenarios = new ScenarioRunner(this);
    if (!snapshot) return;
    restoreState(this.state, snapshot, without);
    this.background.outbox.resume();
    this.scenarios.resume();
  }

  /** Limits as they are now; those that were fixed at the start are as they were. */
  get limits(): Limits {
    return this.state.settings.limits;
  }

  get variants(): Variants {
    return this.state.settings.variants;
  }

  /** Requests are numbered in order of arrival; the journal, the log and `X-Request-Id` use the same id. */
  /** Returns what has to be known to authenticate a credential that was sent to an organization now. */
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

  nextRequestId(): string {
    return `req-${String(this.state.requests.next()).padStart(8, '0')}`;
  }

  /** The `session-id` of a Git conversation. */
  nextSessionId(): string {
    return `${this.engine.gitSession}.${this.state.conversations.next()}`;
  }

  /** Lets go of what a latch holds, and ends the states that last until it is released. Returns how many there were. */
  changeState(organization: string, changes: StateChanges): void {
    changeState(this, organization, changes);
  }

  releaseLatch(name: string): number {
    return this.background.latches.release(name) + endStates(this.state, name);
  }

  snapshot(): WorldSnapshot {
    return snapshotOf(this.state);
  }

  /** Ends it: nothing is written to it any more, what it holds is free, and readers under way end with what they have. */
  async close(): Promise<void> {
    const closed = this.background.close();
    this.state.repositories.release();
    await closed;
  }

  private tellCreated({ organization, name }: RepositoryRecord): void {
    if (!this.state.scenarios.isIdle) this.scenarios.note({ organization, repository: name });
  }

  private tellMoved(record: RepositoryRecord, changes: readonly RefChange[]): void {
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

/** Ends every state that lasts until `signal`. Returns how many there were. */
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
