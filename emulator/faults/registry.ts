import { problem } from '../http/problem.js';
import { type CompileContext, type CompiledFault, compileFault } from './compiled-fault.js';
import type { Fault } from './fault.js';
import { FAULT_LIMITS } from './fault-limits.js';
import { type FaultPlan, planOf } from './fault-plan.js';
import { matchesGlob } from './glob.js';
import type { WrittenFault } from './grammar.js';
import type { FaultedOperation } from './operation-shape.js';
import { checkReach, type IsRefused } from './reach.js';
import { Counters, type FaultEntry, type SkipReason, Tally } from './tally.js';

/** Fault with its counters, as the admin API shows it. */
export interface FaultView extends Fault {
  readonly id: string;
  readonly source: 'registered' | 'in-band';
  /**
   * Text form of the fault. If a request asked for it, the text of the request. Undefined if only JSON can express the
   * fault.
   */
  readonly text?: string;
  /** Number of matching requests. */
  readonly matched: number;
  /** Number of requests for which it fired. */
  readonly fired: number;
  /**
   * Number of further requests for which it fires; null if unlimited. If requests are counted separately (`by`), it
   * refers to the counter that was used last.
   */
  readonly remaining: number | null;
  /** Number of matching requests for which it did not fire, by the reason. */
  readonly skippedBecause: Readonly<Record<SkipReason, number>>;
  /** Ids of the last requests for which it fired. */
  readonly requestIds: readonly string[];
}

/** Immutable value for a snapshot. */
export type FaultsValue = ReturnType<Faults['snapshot']>;

interface FaultsPorts {
  readonly clock: { now(): number };
  /** Seed for faults that fire with a probability (`chance`). */
  readonly seed: string;
  /**
   * Undefined if it is not known which operations a state refuses. Every operation on a repository then counts as
   * refused.
   */
  readonly isRefused?: IsRefused;
}

/**
 * Identity of a client that asks for faults, by which they are counted: organization, repository and `sub`, joined by
 * NUL.
 */
export type Caller = string;

/**
 * All faults of a world: those registered through the admin API, and those that requests asked for in a header or a
 * claim.
 */
export class Faults {
  /** Registered faults by id, in order of registration. */
  private registered = new Map<string, FaultEntry>();
  /** Faults that requests asked for, by text, in order of use. */
  private inBand = new Map<string, FaultEntry>();
  /** Plans by operation id. */
  private readonly plans = new Map<string, FaultPlan>();
  /** Time at which the first registered fault expires. */
  private nextExpiry = Number.POSITIVE_INFINITY;
  private counts = new Counters();
  private inBandCounts = new Counters();
  /** Id of the scenario that each client sent last. */
  private scenarios = new Map<Caller, string>();
  /** Number of ids assigned. */
  private named = 0;
  private ordered = 0;
  /** Number of changes of the registered faults. */
  private changes = 0;

  constructor(private readonly ports: FaultsPorts) {}

  /** True if there are no registered faults. */
  get isIdle(): boolean {
    return this.registered.size === 0;
  }

  /** Number that changes with every change of the registered faults. */
  get revision(): number {
    return this.changes;
  }

  get now(): number {
    return this.ports.clock.now();
  }

  get seed(): string {
    return this.ports.seed;
  }

  /** Throws `bad_request` for a fault that could never fire. */
  check(fault: Fault, operations: readonly FaultedOperation[]): void {
    this.compile(fault, operations, 'The fault');
  }

  /** Registers a fault. Throws `bad_request` if it could never fire, and `conflict` if its id is in use. */
  add(fault: Fault, operations: readonly FaultedOperation[]): FaultView {
    const [entry] = this.put([], [this.compile(fault, operations, 'The fault')]);
    return this.show(entry!);
  }

  /**
   * Replaces the faults with these ids by `faults`. Changes nothing if one of them is refused. Returns the ids of the
   * registered faults.
   */
  exchange(ids: readonly string[], faults: readonly Fault[], operations: readonly FaultedOperation[]): string[] {
    const compiled = faults.map((fault) => {
      const where = `The fault ${fault.id ?? ''}`.trim();
      // A scenario changes variants before it registers its faults, so they were checked with the changed variants.
      return compileFault(fault, { where, operations, now: this.now });
    });
    return this.put(ids, compiled).map(({ id }) => id);
  }

  /** Replaces all registered faults. Changes nothing if one of them is refused. */
  replaceAll(faults: readonly Fault[], operations: readonly FaultedOperation[]): FaultView[] {
    this.requireRoom(faults.length);
    const compiled = faults.map((fault, index) => this.compile(fault, operations, `faults.${index}`));
    return this.put([...this.registered.keys()], compiled).map((entry) => this.show(entry));
  }

  /** Replaces the faults with these ids. Throws if the limit is reached or an id is in use. */
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

  /** Changes members of a fault and keeps its counters. Returns undefined if the fault does not exist. */
  patch(id: string, changes: Partial<Fault>, operations: readonly FaultedOperation[]): FaultView | undefined {
    const entry = this.live(id);
    if (!entry) return undefined;
    if (entry.text !== undefined) {
      throw problem(
        'conflict',
        `The fault ${id} is carried by requests, so it cannot be changed here; it can only be deleted.`,
      );
    }
    if (changes.id !== undefined && changes.id !== id)
      throw problem('bad_request', 'id: the id of a fault cannot be changed.');
    const { do: _do, sequence: _sequence, ...rest } = entry.compiled.definition;
    const isOtherAct = changes.do !== undefined || changes.sequence !== undefined;
    const definition: Fault = { ...(isOtherAct ? rest : entry.compiled.definition), ...changes };
    const changed = { ...entry, compiled: this.compile(definition, operations, 'The fault') };
    this.register([...this.registered.values()].map((one) => (one === entry ? changed : one)));
    return this.show(changed);
  }

  get(id: string): FaultView | undefined {
    const entry = this.live(id);
    return entry && this.show(entry);
  }

  /** Returns the fault as it was given; undefined if it does not exist. */
  definition(id: string): Fault | undefined {
    return this.live(id)?.compiled.definition;
  }

  /** Returns the registered faults in their order, then the in-band ones. */
  list(): FaultView[] {
    const inBand = [...this.inBand.values()].sort((a, b) => a.order - b.order);
    return [...this.liveEntries(), ...inBand].map((entry) => this.show(entry));
  }

  /**
   * Removes a registered fault, or the counters of a fault that requests asked for. Returns false if the fault does not
   * exist.
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

  /** Returns the registered faults that can apply to requests of the operation. */
  planFor(operation: FaultedOperation): FaultPlan {
    this.expire();
    const known = this.plans.get(operation.id);
    if (known) return known;
    const plan = planOf([...this.registered.values()], operation);
    this.plans.set(operation.id, plan);
    return plan;
  }

  /**
   * Returns the entry for a fault that a request asks for. Throws `bad_request` if the fault could never fire, or, if
   * `operation` is given, never for that operation.
   */
  asked(
    { text, name, fault }: WrittenFault,
    context: Omit<CompileContext, 'now'>,
    only?: readonly FaultedOperation[],
  ): FaultEntry {
    const known = this.inBand.get(text);
    const { isRefused } = this.ports;
    const compiled = known?.compiled ?? compileFault(fault, { ...context, now: this.now, isRefused });
    // If the simulated state permits the request, such as a read during a sync, the fault is accepted here, and the
    // response names the reason why it has no effect.
    if (only) checkReach(compiled, only, { ...context, isRefused: () => true });
    const entry = known ?? { id: this.freeId(name), text, order: ++this.ordered, compiled, tally: new Tally() };
    this.inBand.delete(text);
    this.inBand.set(text, entry);
    if (this.inBand.size > FAULT_LIMITS.inBand) this.endInBand(this.inBand.values().next().value!);
    return entry;
  }

  /** Adds the id of a request to a fault that fired on its connection, before the request had an id. */
  noteTouched(id: string, requestId: string): void {
    this.registered.get(id)?.tally.note(requestId);
  }

  /**
   * Records the scenario id that a client sends. Faults that the client counted in its previous scenario start again.
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

  /** Returns true if a registered fault has a condition on this scenario. */
  namesScenario(scenario: string): boolean {
    return this.liveEntries().some(({ compiled: { definition } }) => {
      const glob = definition.match?.scenario;
      return glob !== undefined && matchesGlob(glob, scenario);
    });
  }

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

  /** Returns the name if it is free, otherwise the first free one of `name-2`, `name-3`, … */
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

  /** Removes faults that have expired. */
  private expire(): void {
    if (this.nextExpiry === Number.POSITIVE_INFINITY) return;
    const { now } = this;
    if (now < this.nextExpiry) return;
    const live = [...this.registered.values()].filter(({ compiled }) => compiled.expires > now);
    for (const id of this.registered.keys()) if (!live.some((entry) => entry.id === id)) this.forget(this.counts, id);
    this.register(live);
  }

  /** Replaces all registered faults. */
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
        `Fault limit (${FAULT_LIMITS.registered}) reached; remove one with DELETE /_emulator/faults/ID.`,
      );
    }
  }

  private show(entry: FaultEntry): FaultView {
    const { id, text, compiled, tally } = entry;
    const written = text ?? compiled.text();
    return {
      ...compiled.definition,
      id,
      source: text === undefined ? 'registered' : 'in-band',
      ...(written !== undefined && { text: written }),
      matched: tally.matched,
      fired: tally.fired,
      remaining: tally.remaining(compiled, this.countersOf(entry)) ?? null,
      skippedBecause: { ...tally.skipped },
      requestIds: [...tally.requestIds],
    };
  }
}

/** Returns the entry with its own copy of the tally. */
function withOwnTally(entry: FaultEntry): FaultEntry {
  return { ...entry, tally: entry.tally.copy() };
}

function inUse(id: string) {
  return problem('conflict', `id: a fault ${JSON.stringify(id)} already exists.`);
}
