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
  /** Snapshot from which the state starts. If absent, it starts in the state before the first request. */
  readonly snapshot?: WorldSnapshot | undefined;
  /**
   * Names of the parts of the state that are not restored from the snapshot. They start in the state before the first
   * request.
   */
  readonly without?: readonly StateName[] | undefined;
}

/**
 * State of one emulated service, with its configuration and engine (services and caches). Time, ids and secrets are
 * derived from the configuration. The same seed, clock and requests therefore result in the same bytes.
 *
 * A request belongs to the world in which it began. Restoring a snapshot creates a new world with its own state, and
 * the same configuration and engine. Requests that still run in the previous world cannot change the new world.
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

  /** Current limits. Limits that cannot change at run time have their configured values. */
  get limits(): Limits {
    return this.state.settings.limits;
  }

  get variants(): Variants {
    return this.state.settings.variants;
  }

  /** Returns the input of the authenticator for a credential that was sent to an organization now. */
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

  /**
   * Returns the id of a new request. Requests are numbered in order of arrival. The journal (list of all requests), the
   * log and the header `X-Request-Id` contain this id.
   */
  nextRequestId(): string {
    return `req-${String(this.state.requests.next()).padStart(8, '0')}`;
  }

  /** Returns the `session-id` that the service sends to a Git client at the start of a fetch or push. */
  nextSessionId(): string {
    return `${this.engine.gitSession}.${this.state.conversations.next()}`;
  }

  changeState(organization: string, changes: StateChanges): void {
    changeState(this, organization, changes);
  }

  /**
   * Releases a latch (named signal for which faults and simulated states wait). Requests that wait at the latch
   * continue. States that last until its release end. Returns the number of these requests and states.
   */
  releaseLatch(name: string): number {
    return this.background.latches.release(name) + endStates(this.state, name);
  }

  snapshot(): WorldSnapshot {
    return snapshotOf(this.state);
  }

  /**
   * Closes the world (state of an emulated service), for example because another world replaces it. Writes are then
   * refused, and its memory is released. Running readers keep their data.
   */
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

/**
 * Ends all simulated states of organizations and repositories that last until the latch `signal` is released. A latch
 * is a named signal for which faults and states wait. Returns the number of ended states.
 */
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
