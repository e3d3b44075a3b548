import { inflate } from 'node:zlib';
import { Fsck, FsckError, type FsckPolicy } from '../git/fsck/fsck.js';
import { indexPack } from '../git/index-pack/index-pack.js';
import { bytesIn, textOf } from '../git/object/bytes.js';
import { MissingObject, type ObjectType, type Oid, typeCode, ZERO_OID } from '../git/object/object.js';
import type { Quarantine } from '../git/odb/quarantine.js';
import { ObjectTooLarge, PackError } from '../git/pack/pack-error.js';
import { type RefChange, RefTransactionFailed } from '../git/refs/ref-change.js';
import type { RefTransaction } from '../git/refs/transaction.js';
import { isForced } from '../git/repository/forced-update.js';
import type { GitRepository } from '../git/repository/repository.js';
import { StoreFull } from '../memory/memory-budget.js';
import type { Meter } from '../schedule/meter.js';
import { runYielding } from '../schedule/steps.js';
import { UpstreamError } from '../upstream/fetch-client.js';
import { SourceError } from './file-tree.js';
import type { HistorySource, PackedObjects } from './history-source.js';

export interface FillOptions {
  /** Policy of the checks of imported objects, which are the same as for a push. */
  readonly fsck: FsckPolicy;
  /** Maximum size of an imported object in bytes. */
  readonly objectBytes: number;
}

/**
 * Imports all objects of an external history into a quarantine (objects that are not yet visible), with the checks of a
 * push. `describeFailure` converts its errors to messages for the user.
 */
export async function takeObjects(
  quarantine: Quarantine,
  source: PackedObjects,
  { fsck: policy, objectBytes }: FillOptions,
  meter: Meter,
): Promise<void> {
  const fsck = policy === 'strict' ? new Fsck() : undefined;
  const check: Fsck['check'] | undefined = fsck && ((...object) => fsck.check(...object));
  for await (const pack of source.packs()) await indexPack(quarantine, pack, { thin: false, ...(check && { check }) });
  for await (const { oid, deflated } of source.looseObjects?.() ?? []) {
    const { type, body } = await inflateObject(oid, deflated, objectBytes);
    if (check) await runYielding(check(typeCode(type), body, oid as Oid), meter);
    const written = await runYielding(quarantine.writeSteps(typeCode(type), [body]), meter);
    if (written !== oid) throw new PackError('corrupt', `the content of the object ${oid} has the id ${written}`);
    if (meter.shouldYield) await meter.yieldToEventLoop();
  }
  fsck?.finish(quarantine);
  const missing = await quarantine.findMissing();
  if (missing) throw missing;
}

/**
 * Inflates a loose object of Git (`<type> SP <size> NUL <body>`, deflated). `max`: maximum size of the body in bytes.
 */
async function inflateObject(oid: string, deflated: Buffer, max: number): Promise<{ type: ObjectType; body: Buffer }> {
  const broken = new PackError('corrupt', `the object ${oid} is corrupt`);
  const bytes = await new Promise<Buffer>((resolve, reject) => {
    inflate(deflated, { maxOutputLength: max + 32 }, (error, result) => {
      if (!error) resolve(result);
      else reject('code' in error && error.code === 'ERR_BUFFER_TOO_LARGE' ? new ObjectTooLarge(max + 1, max) : broken);
    });
  });
  const end = bytes.indexOf(0);
  const [, type, size] = /^(commit|tree|blob|tag) (\d+)$/.exec(bytes.toString('latin1', 0, Math.max(0, end))) ?? [];
  if (type === undefined || Number(size) !== bytes.length - end - 1) throw broken;
  return { type: type as ObjectType, body: bytes.subarray(end + 1) };
}

/**
 * Adds the refs of an imported source to a transaction, like a push without force: an existing branch may only be
 * fast-forwarded. HEAD is changed only in a repository without refs. Throws `SourceError`.
 */
export function planRefs(git: GitRepository, transaction: RefTransaction, { refs, head, title }: HistorySource): void {
  const isNew = transaction.refs.size === 0;
  for (const { name, oid } of refs) {
    const change: RefChange = { name, old: transaction.refs.get(name) ?? ZERO_OID, new: oid };
    if (change.old === change.new) continue;
    if (change.old !== ZERO_OID && (!name.startsWith('refs/heads/') || isForced(git, transaction.objects, change))) {
      throw new SourceError(
        `${textOf(name)} of ${title} lacks commits that the repository has on this ref. Use another repository.`,
      );
    }
    transaction.update(change);
  }
  if (!isNew) return;
  const branches = refs.filter(({ name }) => name.startsWith('refs/heads/')).map(({ name }) => name);
  if (head && 'symref' in head && head.symref.startsWith('refs/heads/')) transaction.updateHead(head);
  else if (branches.length > 0 && !branches.includes('refs/heads/main' as never)) {
    const own = refs.find(({ name, oid }) => head && 'oid' in head && oid === head.oid && branches.includes(name));
    transaction.updateHead({ symref: own?.name ?? branches[0]! });
  }
}

/**
 * Converts an error of an import to a `SourceError` with one sentence for the user; returns other errors unchanged.
 * `title`: name of the source.
 */
export function describeFailure(title: string, error: unknown): unknown {
  if (error instanceof FsckError)
    return new SourceError(
      `${title} contains an invalid object: ${textOf(bytesIn(Buffer.from(error.message, 'latin1')))}.`,
    );
  if (error instanceof MissingObject) return new SourceError(`${title} is incomplete: ${error.message}.`);
  if (error instanceof StoreFull) return new SourceError(`${title} does not fit into memory: ${error.message}.`);
  if (error instanceof PackError || error instanceof ObjectTooLarge || error instanceof RefTransactionFailed)
    return new SourceError(`${title} cannot be imported: ${error.message}.`);
  if (error instanceof UpstreamError) return new SourceError(`${title}: ${error.message}`);
  return error;
}
