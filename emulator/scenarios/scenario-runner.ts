import { changeClock } from '../changes/clock-changes.js';
import { millisecondsOf, requireOrganization, type StateChanges } from '../changes/state-changes.js';
import type { Variants } from '../config/variants.js';
import { compileFault } from '../faults/compiled-fault.js';
import type { Fault } from '../faults/fault.js';
import { matchesGlob } from '../faults/glob.js';
import type { FaultedOperation } from '../faults/operation-shape.js';
import type { Faults } from '../faults/registry.js';
import { Problem, problem } from '../http/problem.js';
import { changeQuotas } from '../quotas/quota-changes.js';
import type { Quotas } from '../quotas/quotas.js';
import { refusedUnder } from '../repositories/lifecycle.js';
import type { WorldClock } from '../time/clock.js';
import { type LoadedScenario, SCENARIO_LIMITS, type Scenario, type Step, type TriggeredBy } from './scenario.js';
import { isTriggered, type TriggeringRequest } from './scenario-trigger.js';
import type { Scenarios } from './scenarios.js';

/** Parts of a world (state of an emulated service) that scenarios read and change. */
export interface ScenarioWorld {
  readonly state: {
    readonly scenarios: Scenarios;
    readonly faults: Faults;
    readonly clock: WorldClock;
    readonly quotas: Quotas;
    readonly requests: { snapshot(): number };
    readonly settings: { readonly variants: Variants };
    readonly organizations: { get(name: string): unknown; list(): readonly { readonly name: string }[] };
    readonly repositories: { existing(organization: string): Iterable<{ readonly name: string }> };
  };
  readonly background: { readonly isCurrent: boolean };
  releaseLatch(name: string): number;
  changeState(organization: string, changes: StateChanges): void;
}

export interface Registration {
  readonly operations: readonly FaultedOperation[];
  /** Organization of the repositories in the scenario's `state`. */
  readonly organization: string;
}

/**
 * Change of a repository by a request. It is kept until the response is decided, because steps of scenarios may wait
 * for such a change.
 */
interface RepositoryChange {
  readonly organization: string;
  readonly repository: string;
  /** Full names of the refs that moved; undefined if the repository was created. */
  readonly refs?: readonly string[];
}

const GLOB = /[*?]/;
const MAX_PENDING_CHANGES = 1_000;
const INITIAL_PROGRESS = { next: 0, seen: 0 } as const;

/**
 * Runs the scenarios of a world (state of an emulated service). The progress of scenarios is part of the world, so
 * snapshots contain it. This class keeps only timers, and the changes of requests whose response is not decided yet.
 */
export class ScenarioRunner {
  private pendingChanges: RepositoryChange[] = [];
  private readonly timers = new Map<string, () => void>();

  constructor(private readonly world: ScenarioWorld) {}

  /**
   * Registers a scenario without starting it. Until the start, its faults apply only to requests that name the
   * scenario, and its steps do not run. Throws `bad_request` if a part could never have an effect, and `conflict` if
   * the id is in use.
   */
  register(scenario: Scenario, { operations, organization }: Registration): LoadedScenario {
    const { scenarios, faults } = this.world.state;
    const { id } = scenario;
    if (scenarios.get(id))
      throw problem(
        'conflict',
        `id: the scenario ${JSON.stringify(id)} already exists. Remove it with DELETE /_emulator/scenarios/${id}.`,
      );
    if (scenarios.list().length >= SCENARIO_LIMITS.registered) {
      throw problem(
        'conflict',
        `Scenario limit (${SCENARIO_LIMITS.registered}) reached. Remove one with DELETE /_emulator/scenarios/ID.`,
      );
    }
    this.check(scenario, { operations, organization });
    const added = faults.exchange([], namedFaultsOf(scenario), operations);
    const loaded = { scenario, operations, organization, isStarted: false, faults: added, waiting: [], problems: [] };
    return this.store({ ...loaded, progress: INITIAL_PROGRESS });
  }

  /**
   * Starts a registered scenario. Its faults then apply to all requests, and its steps run. The initial changes are
   * applied completely or not at all. Returns undefined if the scenario does not exist.
   */
  async start(id: string): Promise<LoadedScenario | undefined> {
    const found = this.world.state.scenarios.get(id);
    if (!found) return undefined;
    if (found.isStarted)
      throw problem(
        'conflict',
        `The scenario ${JSON.stringify(id)} has already been started. A scenario can be started only once.`,
      );
    const { clock, requests } = this.world.state;
    const count = requests.snapshot();
    const after = count === 0 ? undefined : `req-${String(count).padStart(8, '0')}`;
    const begun = this.store({ ...this.begin(found), isStarted: true, after });
    if (found.scenario.clock) {
      await changeClock(clock, found.scenario.clock);
      // The check is repeated, because the scenario may have been removed while the clock changed.
      if (!this.world.state.scenarios.get(id)) return undefined;
      // The scenario begins again, because its durations must count from the time to which it has just set the clock.
      this.store(this.begin(begun));
    }
    this.proceed(id);
    return this.world.state.scenarios.get(id);
  }

  /**
   * Removes a scenario with its faults and remaining steps. Changes by earlier steps stay. Returns false if the
   * scenario does not exist.
   */
  remove(id: string): boolean {
    const { scenarios, faults } = this.world.state;
    const found = scenarios.get(id);
    if (!found) return false;
    this.cancelTimer(id);
    faults.exchange(found.faults, [], found.operations);
    scenarios.delete(id);
    return true;
  }

  /** Restarts the timers of delayed steps. Called after a snapshot was restored. */
  resume(): void {
    for (const { scenario, isStarted, progress } of this.world.state.scenarios.list()) {
      if (isStarted && progress.due !== undefined) this.scheduleStep(scenario.id, progress.due);
    }
  }

  /** Records that a request moved refs or created a repository. The record is kept until the response is decided. */
  note(change: RepositoryChange): void {
    this.pendingChanges.push(change);
    // Drops the oldest change if there are too many. Usually the request that caused a change removes it, but some
    // changes are not caused by a request.
    if (this.pendingChanges.length > MAX_PENDING_CHANGES) this.pendingChanges.shift();
  }

  /**
   * Called when the response to a request is decided, before it is sent. Scenarios whose next step waits for such a
   * request advance.
   */
  answered(request: TriggeringRequest): void {
    const { organization, repository, writes } = request;
    const mine = writes ? this.takeChanges(organization, repository) : [];
    if (mine.some(({ refs }) => refs === undefined)) this.applyWaiting(organization, repository!);
    const moved = mine.flatMap(({ refs = [] }) => refs);
    for (const loaded of this.world.state.scenarios.list()) {
      const { scenario, isStarted, progress } = loaded;
      const step = scenario.steps?.[progress.next];
      if (!isStarted || !step?.on || progress.due !== undefined || !isTriggered(step.on, request, moved)) continue;
      const seen = progress.seen + 1;
      this.store({ ...loaded, progress: { ...progress, seen } });
      if (seen >= (step.on.times ?? 1)) this.reach(scenario.id, { organization, repository });
    }
  }

  /** Removes and returns the recorded changes of the repository. */
  private takeChanges(organization: string, repository: string | undefined): RepositoryChange[] {
    const mine = this.pendingChanges.filter(
      (one) => one.organization === organization && one.repository === repository,
    );
    if (mine.length > 0) this.pendingChanges = this.pendingChanges.filter((one) => !mine.includes(one));
    return mine;
  }

  /** Throws `bad_request` if a part of the scenario could never have an effect in this world. */
  private check(scenario: Scenario, { operations, organization }: Registration): void {
    const { state, steps = [] } = scenario;
    const { clock, settings } = this.world.state;
    checkFaults(scenario, operations, clock.now(), settings.variants);
    requireOrganization(this.world, organization);
    const all = [{ where: 'state', state }, ...steps.map((step, at) => ({ where: `steps.${at}.state`, ...step }))];
    for (const { where, state: changes } of all) {
      const patterns = Object.keys(changes?.repositories ?? {}).filter((name) => GLOB.test(name));
      if (patterns.length > SCENARIO_LIMITS.patterns) {
        throw problem(
          'bad_request',
          `${where}.repositories has ${patterns.length} names with wildcards, but at most ${SCENARIO_LIMITS.patterns} are allowed.`,
        );
      }
      for (const name of Object.keys(changes?.organizations ?? {})) {
        if (this.organizations(name).length > 0) continue;
        const known = this.world.state.organizations.list().map((one) => one.name);
        throw problem(
          'bad_request',
          `${where}.organizations: the organization ${name} does not exist. The organizations are ${known.join(', ')}.`,
        );
      }
    }
  }

  private organizations(pattern: string): string[] {
    const names = this.world.state.organizations.list().map(({ name }) => name);
    return names.filter((name) => matchesGlob(pattern, name));
  }

  /** Applies the initial state, quotas and faults of a scenario. If a change fails, restores the previous faults. */
  private begin(loaded: LoadedScenario): LoadedScenario {
    const { scenario, operations } = loaded;
    const { faults } = this.world.state;
    const added = faults.exchange(loaded.faults, faultsOf(scenario), operations);
    try {
      const begun = this.changeState({ ...loaded, faults: added, waiting: [] }, scenario.state ?? {});
      if (scenario.quotas) changeQuotas(this.world, scenario.quotas);
      return begun;
    } catch (error) {
      this.store({ ...loaded, faults: faults.exchange(added, namedFaultsOf(scenario), operations) });
      throw error;
    }
  }

  /**
   * Changes the state of existing organizations and repositories. Changes of repositories that do not exist yet are
   * stored in `waiting`, and applied when the repositories are created.
   */
  private changeState(loaded: LoadedScenario, changes: StateChanges): LoadedScenario {
    const { organization } = loaded;
    const { organizations = {}, repositories = {}, ...settings } = changes;
    const switches = Object.entries(organizations).flatMap(([pattern, switched]) =>
      this.organizations(pattern).map((name) => [name, switched] as const),
    );
    const existing = [...this.world.state.repositories.existing(organization)].map(({ name }) => name);
    const names = new Set(existing);
    const states = Object.entries(repositories).flatMap(([pattern, changed]) => {
      if (!GLOB.test(pattern)) return names.has(pattern) ? [[pattern, changed] as const] : [];
      return existing.filter((name) => matchesGlob(pattern, name)).map((name) => [name, changed] as const);
    });
    this.world.changeState(organization, {
      ...settings,
      organizations: Object.fromEntries(switches),
      repositories: Object.fromEntries(states),
    });
    const waiting = Object.entries(repositories)
      .filter(([pattern]) => GLOB.test(pattern) || !names.has(pattern))
      .map(([pattern, changed]) => ({ organization, pattern, changes: changed }));
    return { ...loaded, waiting: [...loaded.waiting, ...waiting] };
  }

  /** Applies the stored changes of a scenario to a repository that was just created. */
  private applyWaiting(organization: string, repository: string): void {
    for (const loaded of this.world.state.scenarios.list()) {
      const mine = loaded.waiting.filter(
        (one) => one.organization === organization && matchesGlob(one.pattern, repository),
      );
      if (mine.length === 0) continue;
      this.store({ ...loaded, waiting: loaded.waiting.filter((one) => !mine.includes(one) || GLOB.test(one.pattern)) });
      for (const { changes } of mine) {
        this.attempt(loaded.scenario.id, 'state', () =>
          this.world.changeState(organization, { repositories: { [repository]: changes } }),
        );
      }
    }
  }

  /**
   * Called when the next step's request has arrived, or at once if the step waits for none. Runs the step now, or after
   * its delay (`after`).
   */
  private reach(id: string, trigger: TriggeredBy | undefined): void {
    const loaded = this.world.state.scenarios.get(id)!;
    const step = loaded.scenario.steps![loaded.progress.next]!;
    const progress = { ...loaded.progress, trigger: trigger ?? loaded.progress.trigger };
    if (step.after === undefined) {
      this.store({ ...loaded, progress });
      this.perform(id);
      return;
    }
    const due = this.world.state.clock.now() + millisecondsOf(step.after);
    this.store({ ...loaded, progress: { ...progress, due } });
    this.scheduleStep(id, due);
  }

  private scheduleStep(id: string, due: number): void {
    const cancelTimer = this.world.state.clock.at(due, () => {
      this.timers.delete(id);
      if (this.world.background.isCurrent && this.world.state.scenarios.get(id)) this.perform(id);
    });
    this.timers.set(id, cancelTimer);
  }

  private cancelTimer(id: string): void {
    this.timers.get(id)?.();
    this.timers.delete(id);
  }

  /** Makes the changes of the next step, then proceeds to the following step. */
  private perform(id: string): void {
    const { scenarios } = this.world.state;
    const loaded = scenarios.get(id)!;
    const { next, trigger } = loaded.progress;
    const step = loaded.scenario.steps![next]!;
    this.store({ ...loaded, progress: { next: next + 1, seen: 0, trigger } });
    this.change(id, step, next, trigger);
    this.proceed(id);
  }

  /** Starts the scenario's next step at once, unless that step waits for a request. */
  private proceed(id: string): void {
    const { scenario, progress } = this.world.state.scenarios.get(id)!;
    const step = scenario.steps?.[progress.next];
    if (step && !step.on) this.reach(id, undefined);
  }

  private change(id: string, step: Step, at: number, trigger: TriggeredBy | undefined): void {
    const { world } = this;
    const { scenarios, faults, clock } = world.state;
    const { clock: time, quotas, state, repository, faults: added, release } = step;
    const attempt = (member: string, run: () => void) => this.attempt(id, `steps.${at}.${member}`, run);
    // The change of the clock is not awaited, because a timer of that clock may have called this function.
    if (time) attempt('clock', () => void changeClock(clock, time));
    if (quotas) attempt('quotas', () => changeQuotas(world, quotas));
    if (state) attempt('state', () => void this.store(this.changeState(scenarios.get(id)!, state)));
    if (repository) {
      attempt('repository', () => {
        const { organization, repository: name } = trigger ?? { organization: '', repository: undefined };
        if (name === undefined)
          throw problem(
            'bad_request',
            'the request that started this step was not for a repository, so no repository can be selected.',
          );
        world.changeState(organization, { repositories: { [name]: repository } });
      });
    }
    if (added) {
      attempt('faults', () => {
        const loaded = scenarios.get(id)!;
        this.store({ ...loaded, faults: [...loaded.faults, ...faults.exchange([], added, loaded.operations)] });
      });
    }
    if (release !== undefined) attempt('release', () => void world.releaseLatch(release));
  }

  /** Makes a change of a step. A failure is recorded in the scenario, because no response can report it. */
  private attempt(id: string, where: string, run: () => void): void {
    try {
      run();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const loaded = this.world.state.scenarios.get(id)!;
      const problems = [...loaded.problems, `${where}: ${error.detail}`].slice(-SCENARIO_LIMITS.problems);
      this.store({ ...loaded, problems });
    }
  }

  private store(loaded: LoadedScenario): LoadedScenario {
    this.world.state.scenarios.set(loaded);
    return loaded;
  }
}

/**
 * Throws `bad_request` if a fault of the scenario or its steps could never fire. `variants` are the current variants
 * (configurable behaviours of the service), which the scenario may change; undefined if unknown.
 */
export function checkFaults(
  { faults = [], state, steps = [] }: Scenario,
  operations: readonly FaultedOperation[],
  now: number,
  variants?: Variants,
): void {
  let current = variants;
  const lists = [
    { where: 'faults', faults, state },
    ...steps.map((step, at) => ({ where: `steps.${at}.faults`, ...step })),
  ];
  for (const { where, faults: list = [], state: changes } of lists) {
    current = current && { ...current, ...changes?.variants };
    const set = current;
    const isRefused = set && refusedUnder(() => set);
    for (const [at, fault] of list.entries())
      compileFault(fault, { where: `${where}.${at}`, operations, now, isRefused });
  }
}

/**
 * Returns the faults of a scenario that was not started, restricted to requests that name the scenario. Faults at the
 * stage `accept` are omitted, because no request has been read at that stage.
 */
function namedFaultsOf(scenario: Scenario): Fault[] {
  const faults = faultsOf(scenario).filter(({ at }) => at !== 'accept');
  return faults.map((fault) => ({ ...fault, match: { ...fault.match, scenario: scenario.id } }));
}

/** Returns the faults of a scenario. A fault without an id gets an id such as `<id of the scenario>.1`. */
function faultsOf({ id, faults = [] }: Scenario): Fault[] {
  return faults.map((fault, index) => ({ ...fault, id: fault.id ?? `${id}.${index + 1}` }));
}
