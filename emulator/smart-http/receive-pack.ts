import type { ByteString } from '../git/bytes.js';
import { Fsck, FsckError, type FsckPolicy } from '../git/fsck/fsck.js';
import { type Oid, ZERO_OID } from '../git/object.js';
import { Meter } from '../git/schedule/meter.js';
import type { Quarantine } from '../git/store/object-store.js';
import { ObjectTooLarge, PackError, StoreFull } from '../git/store/pack-error.js';
import { peelToCommit } from '../git/tag.js';
import type { WireLimits } from './limits.js';
import { PackSpool } from './pack-spool.js';
import { errorPacket, PacketReader } from './pkt-line.js';
import { ProposedUpdate } from './proposed-update.js';
import { ProtocolError } from './protocol-error.js';
import { carriesPack, type PushRequest, readPushRequest } from './push-request.js';
import { describeOutcome, isDeletion, type Refusal, refusalOf } from './push-rules.js';
import { writeReport } from './report-status.js';
import type { RepositoryView } from './view.js';

/** A ref that a push moved. Absent ids are all zeros. */
export interface RefChange {
  /** The ref as stored: with the prefix of a namespace. */
  readonly ref: ByteString;
  readonly old: Oid;
  readonly new: Oid;
}

export interface ReceivePackExchange {
  readonly view: RepositoryView;
  /** The body, decompressed. */
  readonly body: AsyncIterable<Uint8Array>;
  readonly limits: WireLimits;
  readonly fsck: FsckPolicy;
  /** Says why an update is not allowed; the text is shown to the git user. */
  readonly policy?: (update: ProposedUpdate) => string | undefined | Promise<string | undefined>;
  /** Called when it is this push's turn to write; throws when the repository takes no more writes. */
  readonly requireWritable?: () => void;
  /** Called once, after a push that moved refs, outside the repository's lock. */
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
  readonly #changes: RefChange[] = [];
  #unpackError: string | undefined;
  /** Whether the pack has objects that link to what is not there. */
  #isTorn = false;

  constructor(
    private readonly exchange: ReceivePackExchange,
    private readonly request: PushRequest,
  ) {
    this.#reasons = request.commands.map(() => undefined);
  }

  /** Carries the push out when it is its meter, and says how it went. */
  async complete(spool: PackSpool | undefined): Promise<Buffer> {
    await this.exchange.view.repository.write(() => this.#run(spool));
    await this.#announce();
    return this.#report();
  }

  /** Quarantine, fsck, connectivity, rules, policy, and then in one step: publish and move the refs. */
  async #run(spool: PackSpool | undefined): Promise<void> {
    this.exchange.requireWritable?.();
    const quarantine = this.exchange.view.repository.objects.quarantine();
    try {
      this.#unpackError = this.request.refusal ?? (spool && (await this.#unpack(quarantine, spool)));
      if (this.#unpackError !== undefined) {
        this.#reasons.fill('unpacker error');
        return;
      }
      await this.#checkConnectivity(quarantine);
      await this.#checkRules(quarantine);
      if (this.request.capabilities.has('atomic') && this.#reasons.some((reason) => reason !== undefined)) {
        for (const index of this.#reasons.keys()) this.#reasons[index] ??= 'atomic push failure';
      }
      await this.#moveRefs(quarantine);
    } finally {
      quarantine.discard();
    }
  }

  /** Tells those who keep up with the refs. */
  async #announce(): Promise<void> {
    if (this.#changes.length === 0) return;
    const { view, onUpdated } = this.exchange;
    const { objects, history } = view.repository;
    const tips = this.#changes.map((change) => change.new).filter((oid) => oid !== ZERO_OID);
    await history.extend(
      tips.map((tip) => peelToCommit(objects, tip)).filter((oid) => oid !== undefined),
      new Meter({ schedule: objects.schedule }),
    );
    await onUpdated?.(this.#changes, this.request.options);
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
    if (spool.refusal !== undefined) return spool.refusal;
    const { fsck: policy } = this.exchange;
    const { isShallow } = this.request;
    const fsck = new Fsck((line) => this.#messages.push(`warning: ${line}`));
    try {
      await quarantine.ingest(spool.drain(), {
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
  async #checkConnectivity(quarantine: Quarantine): Promise<void> {
    const { commands, isShallow } = this.request;
    const missing = isShallow ? 'shallow update not allowed' : 'missing necessary objects';
    const updates = [...commands.entries()].filter(([, command]) => !isDeletion(command));
    const unconnected = await quarantine.findUnconnected(new Set(updates.map(([, command]) => command.new)));
    for (const [index, command] of updates) {
      if (this.#isTorn || unconnected.has(command.new)) this.#refuse(index, { reason: missing });
    }
  }

  async #checkRules(quarantine: Quarantine): Promise<void> {
    const { view, policy } = this.exchange;
    const { commands, options } = this.request;
    const meter = new Meter({ schedule: view.repository.objects.schedule });
    for (const [index, command] of commands.entries()) {
      if ((index & 63) === 63 && meter.isOver) await meter.pass();
      if (this.#reasons[index] !== undefined) continue;
      const refusal = refusalOf({ view, command, quarantine });
      if (refusal) this.#refuse(index, refusal);
      else if (policy) {
        const reason = await policy(new ProposedUpdate(view, quarantine, command, options));
        if (reason !== undefined) this.#refuse(index, { reason });
      }
    }
  }

  /** Publishes and moves the refs, in one step; nothing is published when no ref moves to it. */
  async #moveRefs(quarantine: Quarantine): Promise<void> {
    const { repository, prefix } = this.exchange.view;
    const chosen = [...this.request.commands.entries()].filter(([index]) => this.#reasons[index] === undefined);
    const before = repository.refs;
    const updates = chosen.map(([, { name, old, new: next }]) => ({ name: prefix + name, old, new: next }));
    const atomic = this.request.capabilities.has('atomic');
    const { outcomes, apply } = await repository.prepareRefs(updates, { atomic });
    if (outcomes.includes('ok')) {
      // Deletions need none of the objects, and may be all that is left of a push.
      if (chosen.some(([, command], at) => outcomes[at] === 'ok' && !isDeletion(command))) quarantine.publish();
      apply();
    }
    for (const [at, outcome] of outcomes.entries()) {
      const [index, command] = chosen[at]!;
      const { name: ref, old, new: next } = updates[at]!;
      if (outcome !== 'ok') this.#refuse(index, describeOutcome(outcome, command, before.get(ref)));
      else if (old !== next) this.#changes.push({ ref, old, new: next });
      else if (next === ZERO_OID) this.#messages.push('warning: deleting a non-existent ref');
    }
  }

  #refuse(index: number, { reason, message }: Refusal): void {
    this.#reasons[index] = reason;
    if (message !== undefined) this.#messages.push(message);
  }
}
