import type { Criterion } from './conditions.js';
import type { Action } from './fault.js';
import { FAULT_LIMITS } from './fault-limits.js';
import { type FaultPlan, OF_COMMITS, type PlannedFault, planOf } from './fault-plan.js';
import { actionsOf, drawAction, endsStage, kindOf } from './kinds/index.js';
import type { Latches } from './latches.js';
import type { Faults } from './registry.js';
import type { ChosenAction, GitFacts, RequestFacts, StageFacts } from './request-facts.js';
import type { Position } from './stage.js';
import { type FaultEntry, randomOf } from './tally.js';

/**
 * Actions of one fault, such as a delay, that are still to be carried out for one request. Empty if the fault does not
 * fire for the request.
 */
type Decision = readonly Action[];

const NOTHING: Decision = [];

/** Counter that counted a request for a fault, and the number of the request in it. Random values depend on both. */
interface Turn {
  readonly key: string;
  readonly seen: number;
}
const NONE: readonly ChosenAction[] = [];
const NO_TEXTS: readonly string[] = [];

/** Conditions that need the body of the request, because only the body contains the command and the refs. */
const OF_GIT_BODY: ReadonlySet<string> = new Set(['git.command', 'git.ref']);

/** Returns true if the fact that the condition compares is not known yet, so that the condition cannot be checked. */
function isUnknown({ member }: Criterion, { git }: StageFacts): boolean {
  return OF_COMMITS.includes(member) ? git?.paths === undefined : git === undefined && OF_GIT_BODY.has(member);
}

/** Read-only view of the faults of one request, for code that carries out their actions but adds no faults. */
export type RequestFaults = Omit<ArmedRequest, 'add'>;

/** Shared constant for requests to which no fault applies. Its methods do nothing. */
export const NO_FAULTS: RequestFaults = {
  isArmed: false,
  fired: NO_TEXTS,
  decisive: undefined,
  reasons: NO_TEXTS,
  ignored: NO_TEXTS,
  learn: () => {},
  end: () => {},
  needsBody: false,
  needsCommits: false,
  needsContents: false,
  take: () => NONE,
  released: () => Promise.resolve(),
};

/**
 * Injected faults of one request: those that can still fire and those that have fired. Each fault is decided once, at
 * the first stage of the request at which the fault has an action. Checks must be cheap, because every request makes
 * them and most requests match no fault.
 */
export class ArmedRequest {
  /** Id of the last fault that ended a stage, for example by sending an error response. Undefined if none. */
  decisive: string | undefined = undefined;
  private ids: string[] | undefined = undefined;
  private missReasons: string[] | undefined = undefined;
  private refused: string[] | undefined = undefined;
  /** Facts about Git data in the body of the request; undefined until the body is read. */
  private git: GitFacts | undefined = undefined;
  /** Decision about each fault, by its index in `plan.entries`. Undefined for a fault that is not decided yet. */
  private decisions: (Decision | undefined)[] = [];
  /** Turn of each fault that fires for the request, by its id. */
  private turns: Map<string, Turn> | undefined = undefined;
  /**
   * Number of faults of the plan that are finished with this request: they did not fire, or all their actions were
   * carried out.
   */
  private settled = 0;

  constructor(
    private readonly faults: Faults,
    private readonly latches: Latches,
    private readonly facts: RequestFacts,
    private plan: FaultPlan,
  ) {}

  /**
   * Adds the faults that the request itself asks for, in the header `X-Emulator-Fault` or in the claim `emu` of its
   * token. Ignores faults that cannot fire for the operation of the request. Decisions already made are kept.
   */
  add(entries: readonly FaultEntry[]): void {
    const before = this.plan.entries;
    this.plan = planOf([...before, ...entries], this.facts.operation);
    this.decisions = this.plan.entries.map((entry) => this.decisions[before.indexOf(entry)]);
  }

  /**
   * True if a fault has fired for the request or can still fire. False for almost every request, so callers check this
   * first.
   */
  get isArmed(): boolean {
    return this.settled < this.plan.applicable || (this.ids !== undefined && this.ids.length > 0);
  }

  /** Ids of the faults that have fired for the request, in the order in which they fired. */
  get fired(): readonly string[] {
    // The journal takes this array before the response is sent. If a fault can still fire, the array must exist now, so
    // that ids added later appear in the journal.
    if (this.isArmed) this.ids ??= [];
    return this.ids ?? NO_TEXTS;
  }

  /**
   * Reasons why faults did not fire for the request, one sentence per fault, for the journal. Lists only faults that
   * nearly fired: exactly one condition failed, or their counter excluded the request.
   */
  get reasons(): readonly string[] {
    return this.missReasons ?? NO_TEXTS;
  }

  /**
   * Reasons why faults that the request itself asked for did not fire. Omits faults whose counter excluded the request
   * (`skip`, `times`, …), because the client intended that.
   */
  get ignored(): readonly string[] {
    return this.refused ?? NO_TEXTS;
  }

  /**
   * True if a fault has a condition on the body of an API request. The body must then be read before the stage `before`
   * begins.
   */
  get needsBody(): boolean {
    return this.plan.needsBody;
  }

  /**
   * True if a fault has a condition on the commits of a push. They must then be read before the stage `git.receive`
   * ends.
   */
  get needsCommits(): boolean {
    return this.plan.needsCommits;
  }

  /** True if a fault has a condition on the contents of files in new commits. */
  get needsContents(): boolean {
    return this.plan.needsContents;
  }

  /** Records facts from the body of the request. Conditions on them can be checked from the current stage on. */
  learn(git: GitFacts): void {
    this.git = git;
  }

  /**
   * Returns the actions of all faults that fire when the request reaches a stage. At most one action ends the stage (an
   * error, a raw response, a cut or a lost response), and it is the last of the list.
   *
   * Counters are updated synchronously, so that two concurrent requests cannot both use the last firing of a fault.
   */
  take(position: Position): readonly ChosenAction[] {
    const planned = this.plan.at.get(position);
    return planned ? this.choose(planned, { request: this.facts, git: this.git }) : NONE;
  }

  /**
   * Must be called at the end of the request. Adds a reason to `ignored` for each fault that the request asked for but
   * whose stage it never reached.
   */
  end(): void {
    // Skips Git requests. A Git client sends the fault header in every request of a clone or push, but usually only one
    // of these requests reaches the stage.
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
   * Waits for a latch, a named barrier that a test releases through the admin API. Also resolves when `signal` is
   * aborted, because the client has disconnected.
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
        const chosen = { id: entry.id, action: this.drawn(entry, action) };
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
   * Decides whether a fault fires for the request, and with which actions. Returns undefined if a condition needs the
   * unread body of a Git request; the fault is then decided at a later stage. `last` is the action of another fault
   * that already ends this stage.
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
      if (isUnknown(criterion, facts)) return undefined;
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
    const key = this.keyOf(entry);
    const verdict = tally.decide(compiled, this.faults.countersOf(entry), key, { now, seed });
    if ('reason' in verdict) return this.refrain(fault, verdict.why, true);
    this.turns ??= new Map();
    this.turns.set(entry.id, { key, seen: verdict.seen });
    const chosen = compiled.entries[verdict.entry]!;
    if (chosen !== 'pass') return this.settle(fault, chosen);
    return this.refrain(fault, 'its sequence lets this request pass', true);
  }

  /** Returns the action with random values that depend only on the seed and the turn of the fault. */
  private drawn({ id, compiled }: FaultEntry, action: Action): Action {
    const { key, seen } = this.turns!.get(id)!;
    const index = actionsOf(compiled).indexOf(action);
    return drawAction(action, randomOf(this.faults.seed, key, seen, index));
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
   * Returns the key of the counter that counts this request for the fault. A fault from a header or claim has one
   * counter per organization, repository, user (`sub`) and scenario. A registered fault has one counter per combination
   * of the values in `when.by`.
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

/** Returns true if the action refuses only certain refs and the push updates none of them. */
function isForOtherRefs(action: Action, pushed: readonly string[]): boolean {
  const { kind, value } = kindOf(action);
  return kind.isForOtherRefs?.(value, pushed) ?? false;
}
