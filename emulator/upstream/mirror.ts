import { Fsck, type FsckPolicy } from '../git/fsck/fsck.js';
import { indexPack } from '../git/index-pack/index-pack.js';
import { type ByteString, bytesOf, textOf } from '../git/object/bytes.js';
import { COMMIT, isCommit, type Oid, ZERO_OID } from '../git/object/object.js';
import { findCommit } from '../git/object/tag.js';
import type { Quarantine } from '../git/odb/quarantine.js';
import { isDeletion, type RefChange, RefTransactionFailed } from '../git/refs/ref-change.js';
import type { Refs } from '../git/refs/refs.js';
import type { RefTransaction } from '../git/refs/transaction.js';
import { isForced } from '../git/repository/forced-update.js';
import type { GitRepository } from '../git/repository/repository.js';
import { translateError } from '../http/problem.js';
import { Meter } from '../schedule/meter.js';
import { runSync } from '../schedule/steps.js';
import { PackSpool } from '../smart-http/pack-spool.js';
import { openUpstream, type Remote, type RemoteRef, UpstreamError } from './fetch-client.js';

/** Prefixes of the refs that a mirror copies: all branches and tags of the upstream. Other refs are not copied. */
const MIRRORED = ['refs/heads/', 'refs/tags/'].map(bytesOf);

/**
 * Maximum number of `have` lines in a fetch request. They name local commits, so that the upstream does not send
 * objects that are already present.
 */
const MAX_HAVES = 512;
/** Maximum number of local commits that are visited to choose those for `have` lines. */
const MAX_WALKED = 20_000;

export interface MirrorOptions {
  /**
   * Throws if the repository may no longer be written to, for example because it was deleted. Called when the
   * mirror run becomes the writer of the repository, and again before refs change.
   */
  readonly requireWanted: () => void;
  /**
   * Returns true if a ref update is permitted. `isForced` is true if the update loses commits. If this function is
   * absent, all updates are permitted.
   */
  readonly mayMove?: ((change: RefChange, isForced: boolean) => boolean) | undefined;
  /** Policy of the object checks. Received objects are checked in the same way as those of a push. */
  readonly fsck: FsckPolicy;
  /** Maximum number of bytes of the pack that is received. */
  readonly maxPackBytes: number;
}

/**
 * Makes the branches and tags of `git` equal to those of the upstream, as `git fetch --prune` with forced refspecs
 * does: refs that the upstream does not have are deleted, and rewritten ones are forced. All refs change in one step,
 * or none. Throws `UpstreamError` and the errors of pack ingestion.
 *
 * The pack is received before this run becomes the writer of the repository, so that a slow upstream does not block
 * other writers.
 */
export async function mirror(git: GitRepository, remote: Remote, options: MirrorOptions): Promise<void> {
  const session = await openUpstream(remote);
  const listing = await session.listRefs(MIRRORED);
  const wants = newObjects(git, planUpdates(git.refs, listing));
  using spool =
    wants.length === 0 ? undefined : await receive(git, session.fetch({ wants, haves: chooseHaves(git) }), options);
  const take = (transaction: RefTransaction) => applyListing(git, transaction, { listing, spool, remote, options });
  await translateError(
    RefTransactionFailed,
    () => git.transact(take, { check: options.requireWanted }),
    () =>
      new UpstreamError('The upstream has refs that cannot exist together, such as refs/heads/a and refs/heads/a/b.'),
  );
}

async function receive(
  git: GitRepository,
  pack: AsyncIterable<Uint8Array>,
  { maxPackBytes: max }: MirrorOptions,
): Promise<PackSpool> {
  const spool = await PackSpool.fill(pack, { most: max, budget: git.objects.stored.budget, rest: 'leave' });
  if (spool.refusal !== undefined) throw spool.refusal;
  return spool;
}

interface Received {
  readonly listing: readonly RemoteRef[];
  readonly spool: PackSpool | undefined;
  readonly remote: Remote;
  readonly options: MirrorOptions;
}

/**
 * Stores the received objects and updates the refs. Runs as the writer of the repository. The updates are computed
 * again, because refs may have changed while the pack was received. The chosen objects are still present, because
 * objects are never removed.
 */
async function applyListing(
  git: GitRepository,
  transaction: RefTransaction,
  { listing, spool, remote, options }: Received,
): Promise<void> {
  const { objects } = transaction;
  const updates = planUpdates(transaction.refs, listing);
  if (spool) {
    const fsck = options.fsck === 'strict' ? new Fsck() : undefined;
    await indexPack(objects, spool.drain(), {
      thin: true,
      isGiven: true,
      signal: remote.signal,
      ...(fsck && { check: (...object) => fsck.check(...object) }),
    });
    fsck?.finish(objects);
    const missing = await objects.findMissing();
    if (missing) throw missing;
  }
  // Connectivity is checked for all refs that the updates create or change, even those that `mayMove` refuses, because
  // a ref with missing objects makes the upstream unusable.
  await objects.checkConnectivity(updates.filter((change) => !isDeletion(change)).map((change) => change.new));
  requireCommits(updates, objects);
  if (options.mayMove)
    await git.history.extend(
      updates.map(({ old }) => old).filter((old) => isCommit(git.objects, old)),
      new Meter({ schedule: git.objects.schedule, signal: remote.signal }),
    );
  remote.signal.throwIfAborted();
  for (const change of updates) {
    if (options.mayMove?.(change, isForced(git, objects, change)) ?? true) transaction.update(change);
  }
  await transaction.prepare({ prune: true });
}

function newObjects(git: GitRepository, updates: readonly RefChange[]): Oid[] {
  const tips = updates.filter((change) => !isDeletion(change)).map((change) => change.new);
  return [...new Set(tips)].filter((oid) => git.objects.find(oid) < 0);
}

/** Returns the ref updates that make the local branches and tags equal to the upstream's list. Omits unchanged refs. */
export function planUpdates(refs: Refs, listing: readonly RemoteRef[]): RefChange[] {
  const updates: RefChange[] = [];
  const wanted = new Map<ByteString, Oid>(listing.map(({ name, oid }) => [name, oid]));
  for (const prefix of MIRRORED) {
    for (const [name, { oid }] of refs.entries(prefix)) {
      if (!wanted.has(name)) updates.push({ name, old: oid, new: ZERO_OID });
    }
  }
  for (const [name, oid] of wanted) {
    const old = refs.get(name) ?? ZERO_OID;
    if (old !== oid) updates.push({ name, old, new: oid });
  }
  return updates;
}

/**
 * Returns local commits for the `have` lines of a fetch: all of the newest ones, and older ones with growing gaps. One
 * round of negotiation then finds a common commit that is close to the best one.
 */
export function chooseHaves(git: GitRepository): Oid[] {
  const tips = new Set<Oid>();
  for (const prefix of MIRRORED) {
    for (const [, { oid }] of git.refs.entries(prefix)) {
      const commit = runSync(findCommit(git.objects, oid));
      if (commit !== undefined) tips.add(commit);
    }
  }
  if (tips.size === 0) return [];
  const haves: Oid[] = [];
  let walked = 0;
  let next = 0;
  for (const oid of git.history.log({ tips })) {
    if (walked === next) {
      haves.push(oid);
      // Every one of the first 64 commits is chosen. After that, the gap grows with the number of commits visited.
      next += Math.max(1, Math.floor(walked / 64));
    }
    walked += 1;
    if (haves.length === MAX_HAVES || walked === MAX_WALKED) break;
  }
  return haves;
}

function requireCommits(updates: readonly RefChange[], objects: Quarantine): void {
  for (const { name, new: oid } of updates) {
    if (oid === ZERO_OID || !name.startsWith('refs/heads/')) continue;
    if (objects.typeOf(objects.find(oid)) !== COMMIT)
      throw new UpstreamError(`The branch ${textOf(name)} of the upstream does not point to a commit.`);
  }
}
