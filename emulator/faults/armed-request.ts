import type { Criterion } from './conditions.js';
import type { Action } from './fault.js';
import { FAULT_LIMITS } from './fault-limits.js';
import { type FaultPlan, type PlannedFault, planOf } from './fault-plan.js';
import { endsStage, kindOf } from './kinds/index.js';
import type { Latches } from './latches.js';
import type { Faults } from './registry.js';
import type { ChosenAction, GitFacts, RequestFacts, StageFacts } from './request-facts.js';
import type { Position } from './stage.js';
import type { FaultEntry } from './tally.js';

/**
 * Actions of a fault that are still to be carried out for a request. An empty list means that the fault does not fire.
 */
type Decision = readonly Action[];

const NOTHING: Decision = [];
const NONE: readonly ChosenAction[] = [];
const NO_TEXTS: readonly string[] = [];

/** Conditions of a fault that only the body of a Git request decides. */
const OF_GIT_BODY: ReadonlySet<string> = new Set(['git.command', 'git.ref']);

/** Injected faults that can still fire for one request, and those that have fired. */
export type RequestFaults = Omit<ArmedRequest, 'add'>;

/** Shared value for requests to which no fault applies. */
export const NO_FAULTS: RequestFaults = {
  isArmed: false,
  fired: NO_TEXTS,
  decisive: undefined,
  reasons: NO_TEXTS,
  ignored: NO_TEXTS,
  learn: () => {},
  end: () => {},
  needsBody: false,
  take: () => NONE,
  released: () => Promise.resolve(),
};

/**
 * Injected faults that can still fire for one request. For each fault, the decision is made once: at the first stage of
 * the request at which the fault would do something. Checks must be cheap, because most requests match none of the
 * faults of their operation.
 */
export class ArmedRequest {
  /** Id of the last fault that ended a stage, for example with an error response; undefined if none has. */
  decisive: string | undefined = undefined;
  private ids: string[] | undefined = undefined;
  private missReasons: string[] | undefined = undefined;
  private refused: string[] | undefined = undefined;
  /** Facts from the body of a Git request; undefined until it is read. */
  private git: GitFacts | undefined = undefined;
  /** Decisions, by the index of the fault in the plan of the operation. */
  private decisions: (Decision | undefined)[] = [];
  /** Number of faults of the plan that have nothing left to do. */
  private settled = 0;

  constructor(
    private readonly faults: Faults,
    private readonly latches: Latches,
    private readonly facts: RequestFacts,
    private plan: FaultPlan,
  ) {}

  /** Adds faults that the request itself asks for in a header or a claim. Faults for other operations never fire. */
  add(entries: readonly FaultEntry[]): void {
    const before = this.plan.entries;
    this.plan = planOf([...before, ...entries], this.facts.operation);
    this.decisions = this.plan.entries.map((entry) => this.decisions[before.indexOf(entry)]);
  }

  /**
   * True if a fault can still fire or has fired. False for almost every request, which then needs no further checks.
   */
  get isArmed(): boolean {
    return this.settled < this.plan.meeting || (this.ids !== undefined && this.ids.length > 0);
  }

  /** Ids of the faults that have fired, in order. */
  get fired(): readonly string[] {
    // The journal keeps a reference to this array, because faults may still fire while the response is sent.
    if (this.isArmed) this.ids ??= [];
    return this.ids ?? NO_TEXTS;
  }

  /** Reasons why faults did not fire although almost all of their conditions held, one sentence each. */
  get reasons(): readonly string[] {
    return this.missReasons ?? NO_TEXTS;
  }

  /**
   * Reasons why faults that the request itself asked for did not fire. A fault that its counter held back (`skip`,
   * `times`, …) is left out.
   */
  get ignored(): readonly string[] {
    return this.refused ?? NO_TEXTS;
  }

  /** True if a fault has a condition on the JSON body, so that the body must be read early. */
  get needsBody(): boolean {
    return this.plan.needsBody;
  }

  /** Records facts from the body of a Git request. They are known at the current and all later stages. */
  learn(git: GitFacts): void {
    this.git = git;
  }

  /**
   * Returns the actions that fire at a stage. Selects them and takes their counters synchronously, so that concurrent
   * requests cannot share a count. At most one action, the last, ends the stage: an error, a raw response, a cut or a
   * lost response. Delays come before it.
   */
  take(position: Position): readonly ChosenAction[] {
    const planned = this.plan.at.get(position);
    return planned ? this.choose(planned, { request: this.facts, git: this.git }) : NONE;
  }

  /** Adds a reason for each fault that the request asked for and whose stage it did not reach. */
  end(): void {
    // A Git client sends the header with the fault in all requests of a clone or push, but only one of them reaches the
    // stage.
    if (this.facts.operation.group === 'Git') return;
    for (const [position, planned] of this.plan.at) {
      for (const fault of planned) {
        const { text, compiled } = fault.entry;
        // A fault with `skip` may have skipped this request on purpose.
        if (text === undefined || compiled.skip > 0 || this.decisions[fault.index] !== undefined) continue;
        this.decisions[fault.index] = NOTHING;
        this.addReason(fault, `the request did not reach the stage ${position}`, false);
      }
    }
  }

  /** Resolves when the latch is released or the client disconnects. */
  released(latch: string, signal: AbortSignal): Promise<void> {
    return this.latches.hold(latch, signal);
  }

  private choose(planned: readonly PlannedFault[], facts: StageFacts): readonly ChosenAction[] {
    let before: ChosenAction[] | undefined;
    let last: ChosenAction | undefined;
    for (const fault of planned) {
      const { entry, actions } = fault;
      const decision = this.decisions[fault.index] ?? this.decide(fault, facts, last);
      if (!decision || decision.length === 0) continue;
      const due = decision.filter((action) => actions.has(action));
      if (due.length === 0) continue;
      this.settle(
        fault,
        decision.filter((action) => !actions.has(action)),
      );
      for (const action of due) {
        const chosen = { id: entry.id, action };
        if (endsStage(action)) last ??= chosen;
        else before = [...(before ?? NONE), chosen];
      }
    }
    if (before === undefined && last === undefined) return NONE;
    const all = [...(before ?? NONE), ...(last ? [last] : NONE)];
    for (const { id } of all) this.note(id);
    this.decisive = last?.id ?? this.decisive;
    return all;
  }

  /** Decides if a fault fires at this stage. Returns undefined if the decision must wait for a later stage. */
  private decide(fault: PlannedFault, facts: StageFacts, last: ChosenAction | undefined): Decision | undefined {
    const { entry, actions, ends, stateCode } = fault;
    const { compiled, tally } = entry;
    if (compiled.expires !== Number.POSITIVE_INFINITY && compiled.expires <= this.faults.now) {
      return this.settle(fault, NOTHING);
    }
    let failing = 0;
    let failed: Criterion | undefined;
    for (const criterion of compiled.criteria) {
      if (criterion.holds(facts)) continue;
      if (facts.git === undefined && OF_GIT_BODY.has(criterion.member)) return undefined;
      failing += 1;
      failed = criterion;
    }
    if (failed !== undefined) return this.refrain(fault, failing === 1 ? failed.explain(facts) : undefined);
    if (stateCode !== undefined && this.facts.stateRefusal(stateCode) === undefined) {
      return this.refrain(fault, `the state of the repository allows ${this.facts.operation.id}`);
    }
    if (facts.git?.refs && [...actions].every((action) => isForOtherRefs(action, facts.git!.refs!))) {
      return this.refrain(fault, 'the push has none of the refs that the fault refuses');
    }
    if (last && ends) {
      tally.matched += 1;
      tally.skip('priority', '');
      return this.refrain(fault, `the fault ${last.id} has precedence`);
    }
    const { now, seed } = this.faults;
    const verdict = tally.decide(compiled, this.faults.countersOf(entry), this.keyOf(entry), { now, seed });
    if ('reason' in verdict) return this.refrain(fault, verdict.why, true);
    const chosen = compiled.entries[verdict.entry]!;
    if (chosen !== 'pass') return this.settle(fault, chosen);
    return this.refrain(fault, 'its sequence has "pass" for this request', true);
  }

  private refrain(fault: PlannedFault, why: string | undefined, isCounted = false): Decision {
    this.addReason(fault, why, isCounted);
    return this.settle(fault, NOTHING);
  }

  private addReason({ entry, refusal }: PlannedFault, why: string | undefined, isCounted: boolean): void {
    if (why !== undefined && this.reasons.length < FAULT_LIMITS.reasons) {
      this.missReasons ??= [];
      this.missReasons.push(refusal.for(why));
    }
    if (entry.text === undefined || isCounted || this.ignored.length === FAULT_LIMITS.reasons) return;
    this.refused ??= [];
    this.refused.push(refusal.for(why ?? 'the request does not match its conditions'));
  }

  private settle({ index }: PlannedFault, decision: Decision): Decision {
    if (decision.length === 0 && this.decisions[index]?.length !== 0) this.settled += 1;
    this.decisions[index] = decision;
    return decision;
  }

  private note(id: string): void {
    this.ids ??= [];
    if (this.ids.includes(id)) return;
    this.ids.push(id);
    this.plan.entries.find((entry) => entry.id === id)!.tally.fire(this.facts.id);
  }

  /** Returns the key of the counter that counts this request for the fault. */
  private keyOf({ id, text, compiled }: FaultEntry): string {
    const { organizationName, repositoryName = '', verified, operation, connection, scenario = '' } = this.facts;
    const sub = verified?.claims.sub ?? '';
    if (text !== undefined) return `${id}\0${organizationName}\0${repositoryName}\0${sub}\0${scenario}`;
    const parts = {
      rule: '',
      token: `${organizationName}\0${sub}`,
      repo: `${organizationName}\0${repositoryName}`,
      op: operation.id,
      connection,
    };
    return `${id}\0${compiled.by.map((part) => parts[part]).join('\0')}`;
  }
}

function isForOtherRefs(action: Action, pushed: readonly string[]): boolean {
  const { kind, value } = kindOf(action);
  return kind.isForOtherRefs?.(value, pushed) ?? false;
}
