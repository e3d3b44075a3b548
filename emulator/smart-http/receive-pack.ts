import type { ChosenAction } from '../faults/request-facts.js';
import { Fsck, FsckError, type FsckPolicy } from '../git/fsck/fsck.js';
import { indexPack } from '../git/index-pack/index-pack.js';
import { concatBytes, latin1, textOf } from '../git/object/bytes.js';
import { isCommit, type Oid, ZERO_OID } from '../git/object/object.js';
import type { Quarantine } from '../git/odb/quarantine.js';
import { isDeletion, type RefChange, RefTransactionFailed } from '../git/refs/ref-change.js';
import type { RefTransaction } from '../git/refs/transaction.js';
import { isForced, newCommits } from '../git/repository/forced-update.js';
import type { GitRepository } from '../git/repository/repository.js';
import { Meter } from '../schedule/meter.js';
import { breakIncoming, breakReport, endIncoming, refuseAll, repeated } from './broken-push.js';
import { type GitFacts, MAX_NOTED, note } from './git-facts.js';
import { type GitFaults, takeStageFaults, type WireFaults, wireFaultsOf } from './git-faults.js';
import { PackSpool } from './pack-spool.js';
import { bandPackets, DATA, errorPacket, FLUSH, PacketReader, PROGRESS, ProtocolError, packet } from './pkt-line.js';
import { carriesPack, type PushRequest, readPushRequest } from './push-request.js';
import { describeRefusal, oneLine, type Refusal, refusalOf } from './push-rules.js';
import { isUnpackError, NO_COMMITS, previewCommits } from './pushed-commits.js';
import type { RepositoryView } from './view.js';
import type { WireLimits } from './wire-limits.js';

/**
 * Decides about one ref update of a push. Returns the reason to refuse it, which Git shows to its user, or undefined to
 * allow it.
 */
export type UpdateHook = (update: ProposedUpdate) => string | undefined | Promise<string | undefined>;

/**
 * Ref update that passed Git's own checks. All its objects exist, or were received with this push. New objects can be
 * read only from `objects` until they are published.
 */
export interface ProposedUpdate {
  readonly repository: GitRepository;
  /** The objects of this push, together with all published objects. */
  readonly objects: Quarantine;
  /**
   * The ref update, with the name that the client wrote, such as `refs/heads/main`. The name has no prefix, even in a
   * ref namespace.
   */
  readonly change: RefChange;
}

/**
 * Returns true if the update would lose commits: it deletes the ref, or the new commit does not descend from the old
 * one. Moving a tag always counts as a loss. (`isForced` is less strict: it follows a tag to its commit.)
 */
export function losesCommits({ repository, objects, change }: ProposedUpdate): boolean {
  const { old, new: next } = change;
  if (old === ZERO_OID || old === next) return false;
  // A deletion counts. Otherwise a client could force a push by deleting a branch and creating it again.
  if (isDeletion(change)) return true;
  if (!isCommit(repository.objects, old) || !isCommit(objects, next)) return true;
  return isForced(repository, objects, change);
}

/** Returns the commits that this update makes reachable from a published ref. */
export function commitsBroughtBy({ objects, change }: ProposedUpdate): Oid[] {
  return newCommits(objects, change.new).added;
}

/** Everything needed to handle one `POST git-receive-pack` request. */
export interface ReceivePackRequest {
  readonly view: RepositoryView;
  /** Request body (commands and pack), already decompressed. */
  readonly body: AsyncIterable<Uint8Array>;
  readonly limits: WireLimits;
  readonly fsck: FsckPolicy;
  readonly updateHook: UpdateHook | undefined;
  readonly facts: GitFacts;
  readonly faults?: GitFaults | undefined;
  /** Approximate length of the pack in bytes; 0 if not known in advance. */
  readonly packBytes?: number;
}

export interface ReceivePackResult {
  readonly report: Buffer;
  /** Changed refs, by their stored names, which include the prefix of a ref namespace. */
  readonly moved: readonly RefChange[];
  /** True if at least one ref update succeeded, even if it did not change the ref's value. */
  readonly isDone: boolean;
  /**
   * `wire` contains injected faults that change the bytes of the response. `whole` is the length in bytes of the
   * response without them.
   */
  readonly wire?: WireFaults | undefined;
  readonly whole?: number;
}

const NOTHING = { moved: [], isDone: false } as const;

/**
 * Handles `POST git-receive-pack`. The HTTP status is always 200, because the body reports failures. Reads the whole
 * request body before it changes anything, so that a client that disconnects early has changed nothing.
 */
export async function receivePack(received: ReceivePackRequest): Promise<ReceivePackResult> {
  const { view, limits } = received;
  const reader = new PacketReader(received.body, { packets: limits.lines });
  let request: PushRequest;
  try {
    request = await readPushRequest(reader, limits, view.repository.objects.schedule);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    received.facts.error = error.message;
    await drop(reader.rest());
    return { report: errorPacket(error.message), ...NOTHING };
  }
  noteCommands(received.facts, request);
  received.faults?.learn({ refs: refsOf(request), ...(!carriesPack(request) && NO_COMMITS) });
  let wire: WireFaults | undefined;
  try {
    wire = await takeStageFaults(received.faults, 'git.receive');
  } catch (error) {
    await drop(reader.rest());
    throw error;
  }
  if (wire?.fatal !== undefined) {
    await drop(reader.rest());
    return { report: refuseAll(wire.fatal, request), ...NOTHING };
  }
  const push = new Push(received, request);
  if (request.refusal !== undefined || !carriesPack(request)) {
    if (wire !== undefined) endIncoming(wire);
    await drop(reader.rest());
    return request.commands.length === 0 ? { report: Buffer.alloc(0), ...NOTHING } : push.complete(undefined);
  }
  const options = { most: limits.pushBytes, budget: view.repository.objects.stored.budget };
  const pack = wire === undefined ? reader.rest() : breakIncoming(() => reader.rest(), wire, received.packBytes ?? 0);
  using spool = await PackSpool.fill(pack, options);
  if (!received.faults?.needsCommits || spool.refusal !== undefined) return await push.complete(spool);
  received.faults.learn({
    refs: refsOf(request),
    ...(await previewCommits(view.repository, tipsOf(request), spool, received.faults.needsContents)),
  });
  const late = await takeStageFaults(received.faults, 'git.receive');
  if (late === undefined) return await push.complete(spool);
  if (late.fatal !== undefined) return { report: refuseAll(late.fatal, request), ...NOTHING };
  using broken = await PackSpool.fill(
    breakIncoming(() => spool.drain(), late, spool.size),
    options,
  );
  return await push.complete(broken);
}

/** Discards the rest of the body. A client reads the response only after it has sent the whole request. */
async function drop(body: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of body);
}

/** Returns the objects to which the pushed refs will point. */
function tipsOf({ commands }: PushRequest): Oid[] {
  return commands.filter((command) => !isDeletion(command)).map((command) => command.new);
}

function refsOf({ commands }: PushRequest): string[] {
  return commands.map(({ name }) => textOf(name));
}

function noteCommands(facts: GitFacts, { commands }: PushRequest): void {
  facts.command = 'push';
  facts.counts.updates = commands.length;
  for (const { name, old, new: next } of commands) {
    const ref = textOf(name);
    note(facts, 'refs', ref);
    if (facts.updates.length < MAX_NOTED) facts.updates.push({ ref, old, new: next });
  }
}

class Push {
  readonly #reasons: (string | undefined)[];
  readonly #messages: string[] = [];
  readonly #isAtomic: boolean;
  readonly #moved: RefChange[] = [];
  #unpackError: string | undefined;
  /** True if an object in the received pack refers to an object that does not exist. */
  #isTorn = false;
  /** Actions of injected faults for the report. They are taken after all checks, but before any ref changes. */
  #chosen: readonly ChosenAction[] = [];
  #wire: WireFaults | undefined;

  constructor(
    private readonly received: ReceivePackRequest,
    private readonly request: PushRequest,
  ) {
    this.#reasons = request.commands.map(() => undefined);
    this.#isAtomic = request.capabilities.has('atomic');
  }

  /** Executes the push and returns the report for the client. No other writer changes the repository meanwhile. */
  async complete(spool: PackSpool | undefined): Promise<ReceivePackResult> {
    await this.received.view.repository.transact((transaction) => this.#run(transaction, spool));
    this.#noteRefusals();
    const wire = this.#wire;
    const outcome = { moved: this.#moved, isDone: this.#reasons.includes(undefined) };
    if (wire === undefined) return { report: this.#report(), ...outcome };
    // Waits for delays of faults only now, so that they do not block other writers. Ignores a disconnect of the client:
    // the refs have changed, so the report is still written.
    await this.received.faults!.wait(this.#chosen).catch(() => undefined);
    return { report: this.#report(wire), ...outcome, wire, whole: this.#report().length };
  }

  /**
   * Makes all checks in order: unpacking, fsck, connectivity, rules, and the update hook. The ref transaction makes the
   * remaining checks.
   */
  async #run(transaction: RefTransaction, spool: PackSpool | undefined): Promise<void> {
    this.#unpackError = this.request.refusal ?? (spool && (await this.#unpack(transaction.objects, spool)));
    if (this.#unpackError === undefined) {
      await this.#checkConnectivity(transaction);
      await this.#checkRules(transaction);
    }
    if (this.received.faults !== undefined) this.#takeReportFaults(this.received.faults);
    if (this.#unpackError !== undefined) {
      this.#reasons.fill('unpacker error');
      return;
    }
    if (this.#isAtomic && this.#reasons.some((reason) => reason !== undefined)) this.#refuseRest('atomic push failure');
    else await this.#planUpdates(transaction);
  }

  /** Stores the objects of the pack. Returns the reason if that fails; otherwise undefined. */
  async #unpack(quarantine: Quarantine, spool: PackSpool): Promise<string | undefined> {
    if (spool.refusal !== undefined) return spool.refusal.message;
    const { fsck: policy } = this.received;
    const { isShallow } = this.request;
    const fsck = new Fsck((line) => this.#messages.push(`warning: ${line}`));
    try {
      this.received.facts.pack = await indexPack(quarantine, spool.drain(), {
        thin: true,
        isGiven: true,
        ...(policy === 'strict' && { check: (...object) => fsck.check(...object) }),
      });
      if (policy === 'strict') fsck.finish(quarantine);
      const missing = await quarantine.findMissing();
      this.#isTorn = missing !== undefined;
      // Accepts missing objects from a shallow client, as `git index-pack --strict` does. The parents of its boundary
      // commits are expected to be missing.
      return missing && policy === 'strict' && !isShallow
        ? `did not receive expected object ${missing.oid}`
        : undefined;
    } catch (error) {
      if (error instanceof FsckError) {
        this.#messages.push(...error.message.split('\n').map((line) => `error: ${line}`));
        return 'fsck error in packed object';
      }
      if (isUnpackError(error)) return error.message;
      throw error;
    }
  }

  /**
   * Refuses ref updates whose objects are incomplete. If any object of the pack refers to an object that does not
   * exist, refuses all updates, even if no ref would lead to the broken object. Git would store such an object, because
   * its clients could not reach it. But this server lets clients request every stored object by id.
   */
  async #checkConnectivity(transaction: RefTransaction): Promise<void> {
    const { commands, isShallow } = this.request;
    const missing = isShallow ? 'shallow update not allowed' : 'missing necessary objects';
    const updates = [...commands.entries()].filter(([, command]) => !isDeletion(command));
    if (updates.length === 0) return;
    const unconnected = await transaction.objects.findUnconnected(new Set(updates.map(([, command]) => command.new)));
    for (const [index, command] of updates) {
      if (this.#isTorn || unconnected.has(command.new)) this.#refuse(index, { reason: missing });
    }
  }

  /**
   * Checks the rules for refs and calls the update hook. In an atomic push, the checks stop at the first refused
   * update, as in Git.
   */
  async #checkRules(transaction: RefTransaction): Promise<void> {
    const { view, updateHook } = this.received;
    const { repository } = view;
    const { commands } = this.request;
    const meter = new Meter({ schedule: repository.objects.schedule });
    for (const [index, command] of commands.entries()) {
      if ((index & 63) === 63 && meter.shouldYield) await meter.yieldToEventLoop();
      if (this.#reasons[index] === undefined) {
        const refusal = refusalOf(view, command);
        if (refusal) this.#refuse(index, refusal);
        else if (updateHook) {
          const reason = await updateHook({ repository, objects: transaction.objects, change: command });
          if (reason !== undefined) this.#refuse(index, { reason });
        }
      }
      if (this.#isAtomic && this.#reasons[index] !== undefined) return;
    }
  }

  /**
   * Takes the injected faults for the report. If a fault makes the report refuse a ref, the ref does not change either,
   * because Git clients rely on the report.
   */
  #takeReportFaults(faults: GitFaults): void {
    const { commands } = this.request;
    this.#chosen = faults.take('git.report');
    if (this.#chosen.length === 0) return;
    this.#wire = wireFaultsOf(this.#chosen);
    const { progress, report } = this.#wire;
    for (const { text, times } of progress) for (const line of repeated(text, times)) this.#messages.push(line);
    this.#unpackError ??= report?.unpack;
    for (const [index, { name }] of commands.entries()) {
      const reason = report?.refs?.[textOf(name)] ?? report?.refs?.['*'];
      if (reason !== undefined && this.#reasons[index] === undefined) this.#refuse(index, { reason });
    }
  }

  /**
   * Adds the updates that were not refused to the ref transaction. In an atomic push they succeed or fail together;
   * otherwise each on its own.
   */
  async #planUpdates(transaction: RefTransaction): Promise<void> {
    const { view } = this.received;
    const chosen = [...this.request.commands.entries()].filter(([index]) => this.#reasons[index] === undefined);
    const stored = chosen.map(([, command]) => ({ ...command, name: concatBytes(view.prefix, command.name) }));
    for (const change of stored) transaction.update(change);
    if (this.#isAtomic) {
      await this.#prepareAll(transaction);
    } else {
      for (const [at, conflict] of (await transaction.prepareEach()).entries()) {
        if (conflict !== undefined) this.#refuse(chosen[at]![0], describeRefusal(conflict, view));
      }
    }
    for (const [at, [index, { old, new: next }]] of chosen.entries()) {
      if (this.#reasons[index] !== undefined) continue;
      if (old !== next) this.#moved.push(stored[at]!);
      else if (next === ZERO_OID) this.#messages.push('warning: deleting a non-existent ref');
    }
  }

  /**
   * Prepares the ref transaction of an atomic push, in which one conflict refuses all ref updates
   * (gitprotocol-capabilities, `atomic`). As in Git, the message names the conflicting ref, and all updates are
   * reported with one reason.
   */
  async #prepareAll(transaction: RefTransaction): Promise<void> {
    try {
      await transaction.prepare();
    } catch (error) {
      if (!(error instanceof RefTransactionFailed)) throw error;
      this.#messages.push(describeRefusal(error.conflict, this.received.view).message!);
      this.#refuseRest('atomic transaction failed');
      transaction.clear();
    }
  }

  /** Records why updates were refused, in the facts for the journal. */
  #noteRefusals(): void {
    const { facts } = this.received;
    if (this.#unpackError !== undefined) facts.error = this.#unpackError;
    for (const [index, update] of facts.updates.entries()) {
      const reason = this.#reasons[index];
      if (reason !== undefined) update.refused = reason;
    }
  }

  #refuseRest(reason: string): void {
    for (const index of this.#reasons.keys()) this.#reasons[index] ??= reason;
  }

  #refuse(index: number, { reason, message }: Refusal): void {
    this.#reasons[index] = reason;
    if (message !== undefined) this.#messages.push(message);
  }

  /**
   * Builds the response. gitprotocol-pack, Report Status:
   *
   *     report-status  = PKT-LINE("unpack" SP ("ok" / error-msg)) 1*(command-status) flush-pkt
   *     command-status = PKT-LINE("ok" SP refname) / PKT-LINE("ng" SP refname SP error-msg)
   *
   * With a side-band, the whole report is sent on channel 1. `report-status-v2` adds `option` lines for refs that were
   * updated under another name. This server never does that, so both versions are the same.
   */
  #report(wire?: WireFaults): Buffer {
    const { capabilities, commands } = this.request;
    const lines: Buffer[] = [];
    if (capabilities.has('report-status') || capabilities.has('report-status-v2')) {
      lines.push(packet(latin1`unpack ${oneLine(this.#unpackError ?? 'ok')}\n`));
      for (const [index, { name }] of commands.entries()) {
        const reason = this.#reasons[index];
        lines.push(packet(reason === undefined ? latin1`ok ${name}\n` : latin1`ng ${name} ${oneLine(reason)}\n`));
      }
      lines.push(FLUSH);
    }
    const whole = Buffer.concat(lines);
    const report = wire === undefined ? whole : breakReport(whole, wire);
    if (wire?.fatal !== undefined) return refuseAll(wire.fatal, this.request);
    if (!capabilities.has('side-band-64k')) return report;
    const text = Buffer.from(this.#messages.map((message) => `${message}\n`).join(''));
    return Buffer.concat([
      ...(text.length > 0 ? bandPackets(text, PROGRESS, 'side-band-64k') : []),
      ...(report.length > 0 ? bandPackets(report, DATA, 'side-band-64k') : []),
      ...(wire?.cut === undefined || wire.cut.how === 'end' ? [FLUSH] : []),
    ]);
  }
}
