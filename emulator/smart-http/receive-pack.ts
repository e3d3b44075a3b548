import { Fsck, FsckError, type FsckPolicy } from '../git/fsck/fsck.js';
import { indexPack } from '../git/index-pack/index-pack.js';
import { StoreFull } from '../git/memory/memory-budget.js';
import { concatBytes } from '../git/object/bytes.js';
import { ZERO_OID } from '../git/object/object.js';
import type { Quarantine } from '../git/odb/quarantine.js';
import { ObjectTooLarge, PackError } from '../git/pack/pack-error.js';
import { isDeletion, type RefChange, RefTransactionFailed } from '../git/refs/ref-change.js';
import type { RefTransaction } from '../git/refs/transaction.js';
import { Meter } from '../git/schedule/meter.js';
import { PackSpool } from './pack-spool.js';
import { errorPacket, PacketReader } from './pkt-line.js';
import { ProposedUpdate } from './proposed-update.js';
import { ProtocolError } from './protocol-error.js';
import { carriesPack, type PushRequest, readPushRequest } from './push-request.js';
import { describeRefusal, type Refusal, refusalOf } from './push-rules.js';
import { writeReport } from './report-status.js';
import type { RepositoryView } from './view.js';
import type { WireLimits } from './wire-limits.js';

export interface ReceivePackExchange {
  readonly view: RepositoryView;
  /** The body, decompressed. */
  readonly body: AsyncIterable<Uint8Array>;
  readonly limits: WireLimits;
  readonly fsck: FsckPolicy;
  /** Says why an update is not allowed; the text is shown to the git user. */
  readonly policy?: (update: ProposedUpdate) => string | undefined | Promise<string | undefined>;
  /** Called once, after a push that moved refs, outside the repository's lock. Names are as stored: with a prefix. */
  readonly onUpdated?: (changes: readonly RefChange[], options: readonly string[]) => void | Promise<void>;
}

/**
 * Answers `POST git-receive-pack`: always with a 200, whose body is the report. The body is read before
 * anything is touched; a client that leaves before its end has changed nothing.
 */
export async function receivePack(exchange: ReceivePackExchange): Promise<Buffer> {
  const { view, limits } = exchange;
  const reader = new PacketReader(exchange.body, { packets: limits.lines });
  let request: PushRequest;
  try {
    request = await readPushRequest(reader, limits, view.repository.objects.schedule);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    await drop(reader.rest());
    return errorPacket(error.message);
  }
  const push = new Push(exchange, request);
  if (request.refusal !== undefined || !carriesPack(request)) {
    await drop(reader.rest());
    return request.commands.length === 0 ? Buffer.alloc(0) : push.complete(undefined);
  }
  const { budget } = view.repository.objects.stored;
  using spool = await PackSpool.fill(reader.rest(), { most: limits.pushBytes, budget });
  return await push.complete(spool);
}

/** Reads on to the end: a client hears the answer only when it has sent everything. */
async function drop(body: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of body);
}

class Push {
  readonly #reasons: (string | undefined)[];
  readonly #messages: string[] = [];
  readonly #isAtomic: boolean;
  #unpackError: string | undefined;
  /** Whether the pack has objects that link to what is not there. */
  #isTorn = false;

  constructor(
    private readonly exchange: ReceivePackExchange,
    private readonly request: PushRequest,
  ) {
    this.#reasons = request.commands.map(() => undefined);
    this.#isAtomic = request.capabilities.has('atomic');
  }

  /** Carries the push out when it is its turn, and says how it went. */
  async complete(spool: PackSpool | undefined): Promise<Buffer> {
    const { view, onUpdated } = this.exchange;
    await view.repository.transact((transaction) => this.#run(transaction, spool), {
      onCommitted: (changes) => onUpdated?.(changes, this.request.options),
    });
    return this.#report();
  }

  /** Unpacking, fsck, connectivity, rules, policy; what is left is for the transaction. */
  async #run(transaction: RefTransaction, spool: PackSpool | undefined): Promise<void> {
    this.#unpackError = this.request.refusal ?? (spool && (await this.#unpack(transaction.objects, spool)));
    if (this.#unpackError !== undefined) {
      this.#reasons.fill('unpacker error');
      return;
    }
    await this.#checkConnectivity(transaction);
    await this.#checkRules(transaction);
    if (this.#isAtomic && this.#reasons.some((reason) => reason !== undefined)) this.#refuseRest('atomic push failure');
    else await this.#planUpdates(transaction);
  }

  #report(): Buffer {
    return writeReport(this.request.capabilities, this.request.commands, {
      unpackError: this.#unpackError,
      reasons: this.#reasons,
      messages: this.#messages,
    });
  }

  /** Why the pack cannot be taken in, or undefined. */
  async #unpack(quarantine: Quarantine, spool: PackSpool): Promise<string | undefined> {
    if (spool.refusal !== undefined) return spool.refusal.message;
    const { fsck: policy } = this.exchange;
    const { isShallow } = this.request;
    const fsck = new Fsck((line) => this.#messages.push(`warning: ${line}`));
    try {
      await indexPack(quarantine, spool.drain(), {
        thin: true,
        ...(policy === 'strict' && { check: (type, body, oid) => fsck.check(type, body, oid) }),
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
    const { view, policy } = this.exchange;
    const { commands, options } = this.request;
    const meter = new Meter({ schedule: view.repository.objects.schedule });
    for (const [index, command] of commands.entries()) {
      if ((index & 63) === 63 && meter.isOver) await meter.pass();
      if (this.#reasons[index] === undefined) {
        const refusal = refusalOf({ view, command });
        if (refusal) this.#refuse(index, refusal);
        else if (policy) {
          const reason = await policy(new ProposedUpdate(view.repository, transaction.objects, command, options));
          if (reason !== undefined) this.#refuse(index, { reason });
        }
      }
      if (this.#isAtomic && this.#reasons[index] !== undefined) return;
    }
  }

  /** Hands the commands that are left to the transaction, each on its own or all together. */
  async #planUpdates(transaction: RefTransaction): Promise<void> {
    const { view } = this.exchange;
    const chosen = [...this.request.commands.entries()].filter(([index]) => this.#reasons[index] === undefined);
    for (const [, command] of chosen) transaction.update({ ...command, name: concatBytes(view.prefix, command.name) });
    if (this.#isAtomic) {
      await this.#prepareAll(transaction);
    } else {
      for (const [at, conflict] of (await transaction.prepareEach()).entries()) {
        if (conflict !== undefined) this.#refuse(chosen[at]![0], describeRefusal(conflict, view));
      }
    }
    for (const [index, command] of chosen) {
      const isNothing = this.#reasons[index] === undefined && isDeletion(command) && command.old === ZERO_OID;
      if (isNothing) this.#messages.push('warning: deleting a non-existent ref');
    }
  }

  /** gitprotocol-capabilities, `atomic`: one ref in the way, and none is done; Git names it and gives one reason to all. */
  async #prepareAll(transaction: RefTransaction): Promise<void> {
    try {
      await transaction.prepare();
    } catch (error) {
      if (!(error instanceof RefTransactionFailed)) throw error;
      this.#messages.push(describeRefusal(error.conflict, this.exchange.view).message!);
      this.#refuseRest('atomic transaction failed');
      transaction.clear();
    }
  }

  #refuseRest(reason: string): void {
    for (const index of this.#reasons.keys()) this.#reasons[index] ??= reason;
  }

  #refuse(index: number, { reason, message }: Refusal): void {
    this.#reasons[index] = reason;
    if (message !== undefined) this.#messages.push(message);
  }
}
