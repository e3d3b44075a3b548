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

/** A fault as it is shown. */
export interface FaultView extends Fault {
  readonly id: string;
  readonly source: 'registered' | 'in-band';
  /** The text form, as the request has it that asked for the fault; undefined if only JSON can say the fault. */
  readonly text?: string;
  /** Requests that were what it asks for. */
  readonly matched: number;
  /** Requests that it touched. */
  readonly fired: number;
  /** How many more it meets; of what it counts apart, with the last one. Null: no end. */
  readonly remaining: number | null;
  /** How many of those that matched it did not touch, by the reason. */
  readonly skippedBecause: Readonly<Record<SkipReason, number>>;
  /** The last requests that it touched. */
  readonly requestIds: readonly string[];
}

/** What a snapshot keeps: an immutable value. */
export type FaultsValue = ReturnType<Faults['snapshot']>;

interface FaultsPorts {
  readonly clock: { now(): number };
  /** What chance is drawn from. */
  readonly seed: string;
  /** Undefined if the variants are unknown: a state then refuses every operation on a repository. */
  readonly isRefused?: IsRefused;
}

/** Who asks in band, as far as counters are concerned: `organization`, repository and `sub`, joined by NUL. */
export type Caller = string;

/** The faults of a world: those that are registered, and those that requests have asked for. */
export class Faults {
  /** By id, in order of registration. */
  private registered = new Map<string, FaultEntry>();
  /** By text, in order of use. */
  private inBand = new Map<string, FaultEntry>();
  /** By the id of an operation. */
  private readonly plans = new Map<string, FaultPlan>();
  /** When the first of those that are registered is over. */
  private nextExpiry = Number.POSITIVE_INFINITY;
  private counts = new Counters();
  private inBandCounts = new Counters();
  /** The scenario that each caller sent last. */
  private scenarios = new Map<Caller, string>();
  /** Ids that were given. */
  private named = 0;
  private ordered = 0;
  /** Counts the changes of the registered set. */
  private changes = 0;

  constructor(private readonly ports: FaultsPorts) {}

  /** Whether no request can meet a fault that it does not ask for itself. */
  get isIdle(): boolean {
    return this.registered.size === 0;
  }

  /** Another number after every change of the registered faults. */
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

  /** Registers one more. Throws `bad_request` for what could never fire, and `conflict` for an id that is in use. */
  add(fault: Fault, operations: readonly FaultedOperation[]): FaultView {
    const [entry] = this.put([], [this.compile(fault, operations, 'The fault')]);
    return this.show(entry!);
  }

  /**
   * Registers `faults` in the place of those with the ids, or, when one is refused, leaves all as it is. Returns the ids
   * of what it has registered.
   */
  exchange(ids: readonly string[], faults: readonly Fault[], operations: readonly FaultedOperation[]): string[] {
    const compiled = faults.map((fault) => {
      const where = `The fault ${fault.id ?? ''}`.trim();
      // Faults of a scenario were checked under the variants that the scenario sets.
      return compileFault(fault, { where, operations, now: this.now });
    });
    return this.put(ids, compiled).map(({ id }) => id);
  }

  /** Puts these in the place of all that are registered, or, when one of them is refused, of none. */
  replaceAll(faults: readonly Fault[], operations: readonly FaultedOperation[]): FaultView[] {
    this.requireRoom(faults.length);
    const compiled = faults.map((fault, index) => this.compile(fault, operations, `faults.${index}`));
    return this.put([...this.registered.keys()], compiled).map((entry) => this.show(entry));
  }

  /** Registers faults in the place of those with the ids; throws if there is no room, or an id is in use. */
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

  /** Changes members of one; its counters go on. Undefined when there is none. */
  patch(id: string, changes: Partial<Fault>, operations: readonly FaultedOperation[]): FaultView | undefined {
    const entry = this.live(id);
    if (!entry) return undefined;
    if (entry.text !== undefined) {
      throw problem('conflict', `${id} was asked for by requests, which say what it is; it can only be deleted.`);
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

  /** Returns the fault as it was given; undefined if there is none with the id. */
  definition(id: string): Fault | undefined {
    return this.live(id)?.compiled.definition;
  }

  /** Registered ones in their order, then those that requests asked for. */
  list(): FaultView[] {
    const inBand = [...this.inBand.values()].sort((a, b) => a.order - b.order);
    return [...this.liveEntries(), ...inBand].map((entry) => this.show(entry));
  }

  /** Ends a fault, or the counters of one that requests ask for. False when there is none. */
  remove(id: string): boolean {
    const entry = this.live(id);
    if (!entry) return false;
    if (entry.text === undefined) {
      this.register([...this.registered.values()].filter((one) => one !== entry));
      this.forget(this.counts, id);
    } else this.endInBand(entry);
    return true;
  }

  /** The registered faults that requests of the operation can meet. */
  planFor(operation: FaultedOperation): FaultPlan {
    this.expire();
    const known = this.plans.get(operation.id);
    if (known) return known;
    const plan = planOf([...this.registered.values()], operation);
    this.plans.set(operation.id, plan);
    return plan;
  }

  /**
   * The fault that a request asks for. Throws `bad_request` for one that could never fire, or not on `operation`, where
   * that is given.
   */
  asked(
    { text, name, fault }: WrittenFault,
    context: Omit<CompileContext, 'now'>,
    only?: readonly FaultedOperation[],
  ): FaultEntry {
    const known = this.inBand.get(text);
    const { isRefused } = this.ports;
    const compiled = known?.compiled ?? compileFault(fault, { ...context, now: this.now, isRefused });
    // If the state does not refuse the request, the response says so: a read passes while a sync runs.
    if (only) checkReach(compiled, only, { ...context, isRefused: () => true });
    const entry = known ?? { id: this.freeId(name), text, order: ++this.ordered, compiled, tally: new Tally() };
    this.inBand.delete(text);
    this.inBand.set(text, entry);
    if (this.inBand.size > FAULT_LIMITS.inBand) this.endInBand(this.inBand.values().next().value!);
    return entry;
  }

  /** Notes the line of the journal for what a fault has touched before there was a request. */
  noteTouched(id: string, requestId: string): void {
    this.registered.get(id)?.tally.note(requestId);
  }

  /** Notes the scenario that a caller sends: what it counted in another one ends. */
  enterScenario(caller: Caller, scenario: string): void {
    const before = this.scenarios.get(caller);
    this.scenarios.delete(caller);
    this.scenarios.set(caller, scenario);
    if (this.scenarios.size > FAULT_LIMITS.counters) this.scenarios.delete(this.scenarios.keys().next().value!);
    if (before === undefined || before === scenario) return;
    const ended = `\0${caller}\0${before}`;
    this.inBandCounts.delete((key) => key.slice(key.indexOf('\0')) === ended);
  }

  /** Returns true if a registered fault is for requests in this scenario. */
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

  /** The name itself, or the next of `name-2`, `name-3`, … */
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

  /** Those whose time is over go. */
  private expire(): void {
    if (this.nextExpiry === Number.POSITIVE_INFINITY) return;
    const { now } = this;
    if (now < this.nextExpiry) return;
    const live = [...this.registered.values()].filter(({ compiled }) => compiled.expires > now);
    for (const id of this.registered.keys()) if (!live.some((entry) => entry.id === id)) this.forget(this.counts, id);
    this.register(live);
  }

  /** Puts these in the place of all that are registered. */
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
      throw problem('conflict', `At most ${FAULT_LIMITS.registered} faults can be registered at a time.`);
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

/** The entry with a tally that no other entry counts in. */
function withOwnTally(entry: FaultEntry): FaultEntry {
  return { ...entry, tally: entry.tally.copy() };
}

function inUse(id: string) {
  return problem('conflict', `id: there is a fault ${JSON.stringify(id)} already.`);
}
