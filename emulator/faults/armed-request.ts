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
 * Actions (such as a delay or an error response) that a fault still has to carry out for one request. An empty list
 * means that the fault does not fire for the request.
 */
type Decision = readonly Action[];

const NOTHING: Decision = [];
const NONE: readonly ChosenAction[] = [];
const NO_TEXTS: readonly string[] = [];

/**
 * Conditions of a fault that can be checked only after the body of a Git request was read, because only the body
 * contains the command and the refs.
 */
const OF_GIT_BODY: ReadonlySet<string> = new Set(['git.command', 'git.ref']);

/**
 * Injected faults that can still fire for one request, and those that have fired. Everything except `add`, for code
 * that only asks which actions to carry out.
 */
export type RequestFaults = Omit<ArmedRequest, 'add'>;

/** Shared constant for requests to which no fault applies. It has no actions, and its methods do nothing. */
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
 * Injected faults that can still fire for one request. The decision if a fault fires is made once: at the first stage
 * (point of the request's processing at which faults can fire) at which the fault has an action. Checks must be cheap,
 * because every request makes them, and most requests match none of the faults of their operation.
 */
export class ArmedRequest {
  /**
   * Id of the last fault that ended a stage, for example because it replaced the response by an error. Undefined if no
   * fault has.
   */
  decisive: string | undefined = undefined;
  private ids: string[] | undefined = undefined;
  private missReasons: string[] | undefined = undefined;
  private refused: string[] | undefined = undefined;
  /** Command and refs from the body of a Git request; undefined until the body is read. */
  private git: GitFacts | undefined = undefined;
  /**
   * Decisions made so far, by the index of the fault in `plan.entries`; undefined for a fault that is not decided yet.
   */
  private decisions: (Decision | undefined)[] = [];
  /**
   * Number of faults of the plan that can no longer act on this request, because they did not fire or all their actions
   * were carried out.
   */
  private settled = 0;

  constructor(
    private readonly faults: Faults,
    private readonly latches: Latches,
    private readonly facts: RequestFacts,
    private plan: FaultPlan,
  ) {}

  /**
   * Adds faults that the request itself asks for, in the header `X-Emulator-Fault` or in the claim `emu` of its token.
   * Ignores faults that cannot fire for the operation of the request. Decisions already made are kept.
   */
  add(entries: readonly FaultEntry[]): void {
    const before = this.plan.entries;
    this.plan = planOf([...before, ...entries], this.facts.operation);
    this.decisions = this.plan.entries.map((entry) => this.decisions[before.indexOf(entry)]);
  }

  /**
   * True if a fault can still fire for the request or has fired. False for almost every request, so that callers can
   * skip all other checks.
   */
  get isArmed(): boolean {
    return this.settled < this.plan.applicable || (this.ids !== undefined && this.ids.length > 0);
  }

  /** Ids of the faults that have fired for the request, in the order in which they fired. */
  get fired(): readonly string[] {
    // Creates the array now if a fault may still fire, because the journal keeps a reference to it before the response
    // is sent. Ids that are added during the response then appear in the journal.
    if (this.isArmed) this.ids ??= [];
    return this.ids ?? NO_TEXTS;
  }

  /**
   * Reasons why faults did not fire although all of their conditions but one held, or their counter excluded the
   * request. One sentence per fault, shown in the journal.
   */
  get reasons(): readonly string[] {
    return this.missReasons ?? NO_TEXTS;
  }

  /**
   * Reasons why faults that the request itself asked for (in a header or a claim) did not fire. Faults whose counter
   * excluded the request (`skip`, `times`, …) are not listed, because the client intended that.
   */
  get ignored(): readonly string[] {
    return this.refused ?? NO_TEXTS;
  }

  /** True if a fault has a condition on the JSON body. The body must then be read before the stage `before`. */
  get needsBody(): boolean {
    return this.plan.needsBody;
  }

  /**
   * Records the command and the refs that were read from the body of a Git request. Conditions can use them at the
   * current stage and all later ones.
   */
  learn(git: GitFacts): void {
    this.git = git;
  }

  /**
   * Returns the actions of all faults that fire for the request when it reaches a stage. Selects the actions and
   * updates the counters of the faults synchronously, so that two concurrent requests cannot both use the last firing
   * of a fault. At most one action ends the stage (an error, a raw response, a cut or a lost response); it is the last
   * of the list, after delays and other actions.
   */
  take(position: Position): readonly ChosenAction[] {
    const planned = this.plan.at.get(position);
    return planned ? this.choose(planned, { request: this.facts, git: this.git }) : NONE;
  }

  /**
   * Called at the end of the request. Adds a reason to `ignored` for each fault that the request asked for and that
   * could not be decided, because the request did not reach its stage.
   */
  end(): void {
    // Skips Git requests, because a Git client sends the header with the fault in every request of a clone or push, and
    // usually only one of them reaches the stage.
    if (this.facts.operation.group === 'Git') return;
    for (const [position, planned] of this.plan.at) {
      for (const fault of planned) {
        const { text, compiled } = fault.entry;
        // Gives no reason for a fault with `skip`, because it may have skipped this request on purpose.
        if (text === undefined || compiled.skip > 0 || this.decisions[fault.index] !== undefined) continue;
        this.decisions[fault.index] = NOTHING;
        this.addReason(fault, `the request did not reach the stage ${position}`, false);
      }
    }
  }

  /**
   * Waits for a latch (a named barrier that a test releases through the admin API). Resolves when the latch is
   * released, or when `signal` is aborted because the client disconnected.
   */
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

  /**
   * Decides if a fault fires for the request, and with which actions. Returns undefined if a condition needs the body
   * of the Git request, which is not read yet; the decision is then made at a later stage. `last`: action that another
   * fault has already chosen to end this stage.
   */
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
      return this.refrain(fault, 'the push changes none of the refs that the fault refuses');
    }
    if (last && ends) {
      tally.matched += 1;
      tally.skip('priority', '');
      return this.refrain(fault, `the fault ${last.id} has a higher priority`);
    }
    const { now, seed } = this.faults;
    const verdict = tally.decide(compiled, this.faults.countersOf(entry), this.keyOf(entry), { now, seed });
    if ('reason' in verdict) return this.refrain(fault, verdict.why, true);
    const chosen = compiled.entries[verdict.entry]!;
    if (chosen !== 'pass') return this.settle(fault, chosen);
    return this.refrain(fault, 'its sequence lets this request pass', true);
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
    this.refused.push(refusal.for(why ?? 'the request does not match the conditions of the fault'));
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

  /**
   * Returns the key of the counter in which this request is counted for the fault. A fault that a request asked for has
   * one counter per repository, user (`sub`) and scenario. A registered fault has one per combination of the values in
   * `when.by`.
   */
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

/** Returns true if the action refuses only refs that the push does not update. */
function isForOtherRefs(action: Action, pushed: readonly string[]): boolean {
  const { kind, value } = kindOf(action);
  return kind.isForOtherRefs?.(value, pushed) ?? false;
}
