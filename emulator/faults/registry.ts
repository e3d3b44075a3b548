import { problem } from '../http/problem.js';
import { type CompileContext, type CompiledFault, compileFault } from './compiled-fault.js';
import type { Fault } from './fault.js';
import { FAULT_LIMITS } from './fault-limits.js';
import { type FaultPlan, planOf } from './fault-plan.js';
import { type FaultView, viewOf } from './fault-view.js';
import { matchesGlob } from './glob.js';
import type { WrittenFault } from './grammar.js';
import type { FaultedOperation } from './operation-shape.js';
import { checkReach, type IsRefused } from './reach.js';
import { Counters, type FaultEntry, Tally } from './tally.js';

/** Immutable copy of all faults and counters. Part of a snapshot of the emulated service. */
export type FaultsValue = ReturnType<Faults['snapshot']>;

interface FaultsPorts {
  readonly clock: { now(): number };
  /** Seed for the random decisions of faults with a probability (`chance`). */
  readonly seed: string;
  /**
   * Says which operations a repository state refuses. If undefined, every operation on a repository counts as refused.
   */
  readonly isRefused?: IsRefused;
}

/**
 * Identity of a client that asks for faults in its requests: organization, repository and `sub` of its token, joined by
 * NUL. Each client has its own counters.
 */
export type Caller = string;

/**
 * All faults of one world, which is an emulated service with its own state. Registered faults were added through the
 * admin API. In-band faults were asked for by requests, in a header or claim.
 */
export class Faults {
  /** Registered faults by id, in order of registration. */
  private registered = new Map<string, FaultEntry>();
  /** In-band faults, which requests asked for, by their text. The least recently used one comes first. */
  private inBand = new Map<string, FaultEntry>();
  /**
   * Cached plans by operation id. A plan contains the registered faults that can apply to requests to the operation.
   */
  private readonly plans = new Map<string, FaultPlan>();
  /** Time at which the next registered fault expires, on the world's clock; `Infinity` if none expires. */
  private nextExpiry = Number.POSITIVE_INFINITY;
  private counts = new Counters();
  private inBandCounts = new Counters();
  /** Id of the scenario that each client named most recently. The least recently used client comes first. */
  private scenarios = new Map<Caller, string>();
  /** Number of ids of the form `fault-N` that have been assigned. */
  private named = 0;
  private ordered = 0;
  /** Number of changes to the registered faults. It increases with every change. */
  private changes = 0;

  constructor(private readonly ports: FaultsPorts) {}

  /** True if no fault is registered through the admin API. */
  get isIdle(): boolean {
    return this.registered.size === 0;
  }

  /** Version number of the registered faults. It changes whenever they change, so that callers can detect a change. */
  get revision(): number {
    return this.changes;
  }

  get now(): number {
    return this.ports.clock.now();
  }

  get seed(): string {
    return this.ports.seed;
  }

  /** Validates a fault without registering it. Throws `bad_request` if the fault could never fire. */
  check(fault: Fault, operations: readonly FaultedOperation[]): void {
    this.compile(fault, operations, 'The fault');
  }

  /** Registers a fault. Throws `bad_request` if it could never fire, and `conflict` if its id is in use. */
  add(fault: Fault, operations: readonly FaultedOperation[]): FaultView {
    const [entry] = this.put([], [this.compile(fault, operations, 'The fault')]);
    return this.show(entry!);
  }

  /**
   * Removes the registered faults with these ids and registers `faults`. Changes nothing if one of `faults` is invalid.
   * Returns the ids of the newly registered faults.
   */
  exchange(ids: readonly string[], faults: readonly Fault[], operations: readonly FaultedOperation[]): string[] {
    const compiled = faults.map((fault) => {
      const where = `The fault ${fault.id ?? ''}`.trim();
      // Compiles without `isRefused`, which depends on the variants (switches of the service's behaviour). A scenario
      // changes variants before it registers its faults, and the faults were already checked with these variants.
      return compileFault(fault, { where, operations, now: this.now });
    });
    return this.put(ids, compiled).map(({ id }) => id);
  }

  /** Removes all registered faults and registers `faults`. Changes nothing if one of `faults` is invalid. */
  replaceAll(faults: readonly Fault[], operations: readonly FaultedOperation[]): FaultView[] {
    this.requireRoom(faults.length);
    const compiled = faults.map((fault, index) => this.compile(fault, operations, `faults.${index}`));
    return this.put([...this.registered.keys()], compiled).map((entry) => this.show(entry));
  }

  /**
   * Removes the faults with these ids and adds `compiled`. Throws `conflict` if there would be too many faults, or if
   * an id is in use.
   */
  private put(ids: readonly string[], compiled: readonly CompiledFault[]): FaultEntry[] {
    const replaced = new Set(ids);
    const staying = this.liveEntries().filter(({ id }) => !replaced.has(id));
    this.requireRoom(staying.length + compiled.length);
    const taken = new Set([...staying, ...this.inBand.values()].map(({ id }) => id));
    for (const { definition } of compiled) {
      if (definition.id === undefined) continue;
      if (taken.has(definition.id)) throw inUse(definition.id);
      taken.add(definition.id);
    }
    for (const id of ids) this.forget(this.counts, id);
    const entries = compiled.map((one) => {
      const id = one.definition.id ?? this.nextId(taken);
      return { id, text: undefined, order: ++this.ordered, compiled: one, tally: new Tally() };
    });
    this.register([...staying, ...entries]);
    return entries;
  }

  /**
   * Changes members of a fault and keeps its counters. Times relative to the registration of the fault (`ttl`,
   * `when.from`, `when.until`) restart only if `changes` contains them. Throws `conflict` for an in-band fault. Returns
   * undefined if the fault does not exist.
   */
  patch(id: string, changes: Partial<Fault>, operations: readonly FaultedOperation[]): FaultView | undefined {
    const entry = this.live(id);
    if (!entry) return undefined;
    if (entry.text !== undefined) {
      throw problem(
        'conflict',
        `The fault ${id} came in the header or token of requests, so it cannot be changed. It can only be deleted.`,
      );
    }
    if (changes.id !== undefined && changes.id !== id)
      throw problem(
        'bad_request',
        'id: the id of a fault cannot be changed. Delete the fault, and add it with the new id.',
      );
    const { do: _do, sequence: _sequence, ...rest } = entry.compiled.definition;
    const isOtherAct = changes.do !== undefined || changes.sequence !== undefined;
    const { enabled, ...definition }: Fault = { ...(isOtherAct ? rest : entry.compiled.definition), ...changes };
    const { expires, from, until } = entry.compiled;
    const compiled = {
      ...this.compile({ ...definition, ...(enabled === false && { enabled }) }, operations, 'The fault'),
      ...(changes.ttl === undefined && { expires }),
      ...(changes.when === undefined && { from, until }),
    };
    const changed = { ...entry, compiled };
    this.register([...this.registered.values()].map((one) => (one === entry ? changed : one)));
    return this.show(changed);
  }

  get(id: string): FaultView | undefined {
    const entry = this.live(id);
    return entry && this.show(entry);
  }

  /** Returns the JSON form of a fault as the client gave it; undefined if the fault does not exist. */
  definition(id: string): Fault | undefined {
    return this.live(id)?.compiled.definition;
  }

  /**
   * Returns the registered faults in the order of registration, followed by the in-band faults in the order of first
   * use.
   */
  list(): FaultView[] {
    const inBand = [...this.inBand.values()].sort((a, b) => a.order - b.order);
    return [...this.liveEntries(), ...inBand].map((entry) => this.show(entry));
  }

  /**
   * Removes a fault and its counters. Returns false if the fault does not exist. An in-band fault comes back, with new
   * counters, when a request asks for it again.
   */
  remove(id: string): boolean {
    const entry = this.live(id);
    if (!entry) return false;
    if (entry.text === undefined) {
      this.register([...this.registered.values()].filter((one) => one !== entry));
      this.forget(this.counts, id);
    } else this.endInBand(entry);
    return true;
  }

  /**
   * Returns the plan for requests to the operation: the registered faults that can apply to it, by stage. Plans are
   * cached until the faults change.
   */
  planFor(operation: FaultedOperation): FaultPlan {
    this.expire();
    const known = this.plans.get(operation.id);
    if (known) return known;
    const plan = planOf([...this.registered.values()], operation);
    this.plans.set(operation.id, plan);
    return plan;
  }

  /**
   * Returns the entry of an in-band fault, which a request asks for in a header or claim. Equal texts share one entry.
   * Throws `bad_request` if the fault could never fire, or could never fire for the operations `only`.
   */
  asked(
    { text, name, fault }: WrittenFault,
    context: Omit<CompileContext, 'now'>,
    only?: readonly FaultedOperation[],
  ): FaultEntry {
    const known = this.inBand.get(text);
    const { isRefused } = this.ports;
    const compiled = known?.compiled ?? compileFault(fault, { ...context, now: this.now, isRefused });
    // Treats every operation as refused. This accepts a fault whose simulated state permits the request, such as a read
    // during a sync. The response then gives the reason why the fault has no effect.
    if (only) checkReach(compiled, only, { ...context, isRefused: () => true });
    const entry = known ?? { id: this.freeId(name), text, order: ++this.ordered, compiled, tally: new Tally() };
    this.inBand.delete(text);
    this.inBand.set(text, entry);
    if (this.inBand.size > FAULT_LIMITS.inBand) this.endInBand(this.inBand.values().next().value!);
    return entry;
  }

  /** Adds a request id to a fault that fired before the request had an id, when its connection was accepted. */
  noteTouched(id: string, requestId: string): void {
    this.registered.get(id)?.tally.note(requestId);
  }

  /**
   * Records the scenario id that a client sends with a request. If the client changes to another scenario, the in-band
   * counters of its previous scenario are deleted.
   */
  enterScenario(caller: Caller, scenario: string): void {
    const before = this.scenarios.get(caller);
    this.scenarios.delete(caller);
    this.scenarios.set(caller, scenario);
    if (this.scenarios.size > FAULT_LIMITS.counters) this.scenarios.delete(this.scenarios.keys().next().value!);
    if (before === undefined || before === scenario) return;
    const ended = `\0${caller}\0${before}`;
    this.inBandCounts.delete((key) => key.slice(key.indexOf('\0')) === ended);
  }

  /** Returns true if the `match.scenario` of a registered fault matches the scenario. */
  namesScenario(scenario: string): boolean {
    return this.liveEntries().some(({ compiled: { definition } }) => {
      const glob = definition.match?.scenario;
      return glob !== undefined && matchesGlob(glob, scenario);
    });
  }

  /** Returns the counters for a fault. Registered faults and in-band faults have separate counters. */
  countersOf({ text }: FaultEntry): Counters {
    return text === undefined ? this.counts : this.inBandCounts;
  }

  snapshot() {
    return {
      registered: [...this.registered.values()].map(withOwnTally),
      inBand: [...this.inBand.values()].map(withOwnTally),
      counts: this.counts.snapshot(),
      inBandCounts: this.inBandCounts.snapshot(),
      scenarios: new Map(this.scenarios),
      named: this.named,
      ordered: this.ordered,
      revision: this.changes,
    };
  }

  restore(value: FaultsValue): void {
    this.register(value.registered.map(withOwnTally));
    this.inBand = new Map(value.inBand.map((entry) => [entry.text!, withOwnTally(entry)]));
    this.counts = new Counters(value.counts);
    this.inBandCounts = new Counters(value.inBandCounts);
    this.scenarios = new Map(value.scenarios);
    this.named = value.named;
    this.ordered = value.ordered;
    this.changes = value.revision;
  }

  private compile(fault: Fault, operations: readonly FaultedOperation[], where: string): CompiledFault {
    return compileFault(fault, { where, operations, now: this.now, isRefused: this.ports.isRefused });
  }

  private nextId(taken: ReadonlySet<string>): string {
    let id: string;
    do id = `fault-${++this.named}`;
    while (taken.has(id));
    return id;
  }

  /** Returns the name if no fault uses it as its id, otherwise the first free id of `name-2`, `name-3`, … */
  private freeId(name: string): string {
    const taken = new Set([...this.registered.values(), ...this.inBand.values()].map(({ id }) => id));
    if (!taken.has(name)) return name;
    let n = 2;
    while (taken.has(`${name}-${n}`)) n++;
    return `${name}-${n}`;
  }

  private endInBand({ id, text }: FaultEntry): void {
    this.inBand.delete(text!);
    this.forget(this.inBandCounts, id);
  }

  private live(id: string): FaultEntry | undefined {
    return [...this.liveEntries(), ...this.inBand.values()].find((entry) => entry.id === id);
  }

  private liveEntries(): FaultEntry[] {
    this.expire();
    return [...this.registered.values()];
  }

  /** Removes registered faults whose lifetime (`ttl`) is over. Called before each use of the registered faults. */
  private expire(): void {
    if (this.nextExpiry === Number.POSITIVE_INFINITY) return;
    const { now } = this;
    if (now < this.nextExpiry) return;
    const live = [...this.registered.values()].filter(({ compiled }) => compiled.expires > now);
    for (const id of this.registered.keys()) if (!live.some((entry) => entry.id === id)) this.forget(this.counts, id);
    this.register(live);
  }

  /** Replaces the registered faults by `entries`, and discards the cached plans of the old faults. */
  private register(entries: readonly FaultEntry[]): void {
    this.registered = new Map(entries.map((entry) => [entry.id, entry]));
    this.nextExpiry = Math.min(...entries.map(({ compiled }) => compiled.expires), Number.POSITIVE_INFINITY);
    this.plans.clear();
    this.changes += 1;
  }

  private forget(counters: Counters, id: string): void {
    counters.delete((key) => key.startsWith(`${id}\0`));
  }

  requireRoom(size: number): void {
    if (size > FAULT_LIMITS.registered) {
      throw problem(
        'conflict',
        `Fault limit (${FAULT_LIMITS.registered}) reached. Remove one with DELETE /_emulator/faults/ID.`,
      );
    }
  }

  private show(entry: FaultEntry): FaultView {
    return viewOf(entry, this.countersOf(entry));
  }
}

/** Returns a copy of the entry with its own counts, so that changing them does not affect the original. */
function withOwnTally(entry: FaultEntry): FaultEntry {
  return { ...entry, tally: entry.tally.copy() };
}

function inUse(id: string) {
  return problem(
    'conflict',
    `id: a fault with the id ${JSON.stringify(id)} already exists. Choose another id, or delete that fault.`,
  );
}
