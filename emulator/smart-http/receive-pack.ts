import type { ChosenAction } from '../faults/request-facts.js';
import { Fsck, FsckError, type FsckPolicy } from '../git/fsck/fsck.js';
import { indexPack } from '../git/index-pack/index-pack.js';
import { type ByteString, bytesOf, concatBytes, latin1, textOf } from '../git/object/bytes.js';
import { isCommit, type Oid, ZERO_OID } from '../git/object/object.js';
import type { Quarantine } from '../git/odb/quarantine.js';
import { ObjectTooLarge, PackError } from '../git/pack/pack-error.js';
import { isDeletion, type RefChange, RefTransactionFailed } from '../git/refs/ref-change.js';
import type { RefTransaction } from '../git/refs/transaction.js';
import { isForced, newCommits } from '../git/repository/forced-update.js';
import type { GitRepository } from '../git/repository/repository.js';
import { StoreFull } from '../memory/memory-budget.js';
import { Meter } from '../schedule/meter.js';
import { breakIncoming, breakReport, endIncoming, refuseAll, repeated } from './broken-push.js';
import { type GitFacts, MOST_NOTED, note } from './git-facts.js';
import { type GitFaults, meetStage, type WireFaults, wireFaultsOf } from './git-faults.js';
import { PackSpool } from './pack-spool.js';
import { bandPackets, DATA, errorPacket, FLUSH, PacketReader, PROGRESS, ProtocolError, packet } from './pkt-line.js';
import { carriesPack, type PushRequest, readPushRequest } from './push-request.js';
import { describeRefusal, type Refusal, refusalOf } from './push-rules.js';
import type { RepositoryView } from './view.js';
import type { WireLimits } from './wire-limits.js';

/** Why an update is not allowed, as the git user is shown it; undefined when it is. */
export type UpdateHook = (update: ProposedUpdate) => string | undefined | Promise<string | undefined>;

/** A ref update that Git would make. Its objects are all there, but can be read only here before they are published. */
export interface ProposedUpdate {
  readonly repository: GitRepository;
  /** What is published, and what the push brings. */
  readonly objects: Quarantine;
  /** Named as the client writes it: `refs/heads/main`, in a namespace too. */
  readonly change: RefChange;
}

/**
 * Whether commits of the ref would be lost: it is deleted, or its new commit does not descend from the old. Stricter
 * than `isForced`, which looks through tags: a tag that is moved is lost, wherever it leads to.
 */
export function losesCommits({ repository, objects, change }: ProposedUpdate): boolean {
  const { old, new: next } = change;
  if (old === ZERO_OID || old === next) return false;
  // Deleting a branch and creating it elsewhere would be a forced push in two steps.
  if (isDeletion(change)) return true;
  if (!isCommit(repository.objects, old) || !isCommit(objects, next)) return true;
  return isForced(repository, objects, change);
}

/** The commits that the push brings for this ref. */
export function commitsBroughtBy({ objects, change }: ProposedUpdate): Oid[] {
  return newCommits(objects, change.new).added;
}

/** One `POST git-receive-pack`. */
export interface ReceivePackRequest {
  readonly view: RepositoryView;
  /** The body, decompressed. */
  readonly body: AsyncIterable<Uint8Array>;
  readonly limits: WireLimits;
  readonly fsck: FsckPolicy;
  readonly updateHook: UpdateHook | undefined;
  readonly facts: GitFacts;
  readonly faults?: GitFaults | undefined;
  /** About the length of the pack, as far as it is known before it was read; 0 where it is not. */
  readonly packBytes?: number;
}

export interface ReceivePackResult {
  readonly report: Buffer;
  /** The refs that moved, by the names they are stored under. */
  readonly moved: readonly RefChange[];
  /** Whether a command was carried out, also one that leaves its ref where it is. */
  readonly isDone: boolean;
  /** What is to go wrong with the answer, and how long the report would be without. */
  readonly wire?: WireFaults | undefined;
  readonly whole?: number;
}

const NOTHING = { moved: [], isDone: false } as const;

/**
 * Answers `POST git-receive-pack`: always with a 200, whose body is the report. The body is read before
 * anything is touched; a client that leaves before its end has changed nothing.
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
  received.faults?.learn({ refs: request.commands.map(({ name }) => textOf(name)) });
  let wire: WireFaults | undefined;
  try {
    wire = await meetStage(received.faults, 'git.receive');
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
  const { budget } = view.repository.objects.stored;
  const pack = wire === undefined ? reader.rest() : breakIncoming(() => reader.rest(), wire, received.packBytes ?? 0);
  using spool = await PackSpool.fill(pack, { most: limits.pushBytes, budget });
  return await push.complete(spool);
}

/** Reads on to the end: a client hears the answer only when it has sent everything. */
async function drop(body: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of body);
}

function noteCommands(facts: GitFacts, { commands }: PushRequest): void {
  facts.command = 'push';
  facts.counts.updates = commands.length;
  for (const { name, old, new: next } of commands) {
    const ref = textOf(name);
    note(facts, 'refs', ref);
    if (facts.updates.length < MOST_NOTED) facts.updates.push({ ref, old, new: next });
  }
}

class Push {
  readonly #reasons: (string | undefined)[];
  readonly #messages: string[] = [];
  readonly #isAtomic: boolean;
  readonly #moved: RefChange[] = [];
  #unpackError: string | undefined;
  /** Whether the pack has objects that link to what is not there. */
  #isTorn = false;
  /** What is to go wrong with the report: taken when everything else is known, before any ref has moved. */
  #chosen: readonly ChosenAction[] = [];
  #wire: WireFaults | undefined;

  constructor(
    private readonly received: ReceivePackRequest,
    private readonly request: PushRequest,
  ) {
    this.#reasons = request.commands.map(() => undefined);
    this.#isAtomic = request.capabilities.has('atomic');
  }

  /** Carries the push out when it is its turn, and says how it went. */
  async complete(spool: PackSpool | undefined): Promise<ReceivePackResult> {
    await this.received.view.repository.transact((transaction) => this.#run(transaction, spool));
    this.#noteRefusals();
    const wire = this.#wire;
    const outcome = { moved: this.#moved, isDone: this.#reasons.includes(undefined) };
    if (wire === undefined) return { report: this.#report(), ...outcome };
    // Other writers do not wait for it, and what has been done is told on, also when the client has left meanwhile.
    await this.received.faults!.wait(this.#chosen).catch(() => undefined);
    return { report: this.#report(wire), ...outcome, wire, whole: this.#report().length };
  }

  /** Unpacking, fsck, connectivity, rules, the update hook; what is left is for the transaction. */
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

  /** Why the pack cannot be taken in, or undefined. */
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
      // As `git index-pack --strict`, which expects no parents of the commits that a shallow client cut off.
      return missing && policy === 'strict' && !isShallow
        ? `did not receive expected object ${missing.oid}`
        : undefined;
    } catch (error) {
      if (error instanceof FsckError) {
        this.#messages.push(...error.message.split('\n').map((line) => `error: ${line}`));
        return 'fsck error in packed object';
      }
      if (error instanceof PackError || error instanceof StoreFull || error instanceof ObjectTooLarge) {
        return error.message;
      }
      throw error;
    }
  }

  /**
   * Marks the commands whose objects are not all there. Of a torn pack that is all of them: Git would keep what no
   * accepted ref leads to, but here everything that is kept can be asked for by its id.
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

  /** As Git, an atomic push ends with the first command that is refused. */
  async #checkRules(transaction: RefTransaction): Promise<void> {
    const { view, updateHook } = this.received;
    const { repository } = view;
    const { commands } = this.request;
    const meter = new Meter({ schedule: repository.objects.schedule });
    for (const [index, command] of commands.entries()) {
      if ((index & 63) === 63 && meter.isOver) await meter.pass();
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

  /** What a report is asked to refuse is refused: Git's clients rely on it that such a ref has not moved. */
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

  /** Hands the commands that are left to the transaction, each on its own or all together. */
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

  /** gitprotocol-capabilities, `atomic`: one ref in the way, and none is done; Git names it and gives one reason to all. */
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
   * The answer. gitprotocol-pack, Report Status:
   *
   *     report-status  = PKT-LINE("unpack" SP ("ok" / error-msg)) 1*(command-status) flush-pkt
   *     command-status = PKT-LINE("ok" SP refname) / PKT-LINE("ng" SP refname SP error-msg)
   *
   * In side-band the report as a whole travels in band 1. `report-status-v2` adds `option` lines for refs
   * that were done under another name, which never happens here, so both look the same.
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

/** A reason fills the rest of its line, and a line has to fit a packet beside a name. */
function oneLine(reason: string): ByteString {
  return bytesOf(reason.replaceAll(/[\r\n]+/g, ' ').slice(0, 1000));
}
