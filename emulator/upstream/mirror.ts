import type { ByteString } from '../git/bytes.js';
import { isForced } from '../git/forced-update.js';
import { Fsck, type FsckPolicy } from '../git/fsck/fsck.js';
import { COMMIT, type Oid, ZERO_OID } from '../git/object.js';
import type { Refs } from '../git/refs.js';
import type { GitRepository, RefUpdate } from '../git/repository.js';
import { Meter } from '../git/schedule/meter.js';
import type { Quarantine } from '../git/store/quarantine.js';
import { peelToCommit } from '../git/tag.js';
import { openUpstream, type Remote, type RemoteRef } from './fetch-client.js';
import { UpstreamError } from './upstream-error.js';

/** What a mirror holds: every branch and tag of the upstream, and no others. */
const MIRRORED = ['refs/heads/', 'refs/tags/'] as const;

/** Commits named to the upstream, so that it need not send what is here. */
const MOST_HAVES = 512;
/** Commits looked at to find them. */
const MOST_WALKED = 20_000;

export interface MirrorOptions {
  /** Throws when the repository may no longer be written to; asked when it is this run's turn to write. */
  readonly requireWanted: () => void;
  /** Whether a ref may move; without it, all may. */
  readonly mayMove?: ((update: RefUpdate, isForced: boolean) => boolean) | undefined;
  /** What comes from outside is checked as what is pushed. */
  readonly fsck: FsckPolicy;
}

/**
 * Makes the branches and tags of `git` those of the upstream, as `git fetch --prune` with forced refspecs
 * does: what is missing there goes, what was rewritten there is rewritten. All refs move in one step, or
 * none. Throws `UpstreamError`, and whatever taking in a pack throws.
 */
export async function mirror(git: GitRepository, remote: Remote, options: MirrorOptions): Promise<void> {
  const session = await openUpstream(remote);
  const listing = await session.listRefs(MIRRORED);
  await git.write(async () => {
    options.requireWanted();
    const updates = planUpdates(git.refs, listing);
    const tips = [...new Set(updates.map((update) => update.new))].filter((oid) => oid !== ZERO_OID);
    const wants = tips.filter((oid) => git.objects.find(oid) < 0);
    using quarantine = git.objects.quarantine();
    if (wants.length > 0) {
      const pack = session.fetch({ wants, haves: chooseHaves(git) });
      const fsck = options.fsck === 'strict' ? new Fsck() : undefined;
      await quarantine.ingest(pack, {
        thin: true,
        signal: remote.signal,
        ...(fsck && { check: (type, body, oid) => fsck.check(type, body, oid) }),
      });
      fsck?.finish(quarantine);
      const missing = await quarantine.findMissing();
      if (missing) throw missing;
    }
    await quarantine.checkConnectivity(tips);
    requireCommits(updates, quarantine);
    remote.signal.throwIfAborted();
    options.requireWanted();
    quarantine.publish();
    await git.history.extend(
      tips.map((tip) => peelToCommit(git.objects, tip)).filter((oid) => oid !== undefined),
      new Meter({ schedule: git.objects.schedule, signal: remote.signal }),
    );
    const outcomes = git.updateRefs(permitted(git, updates, options), { atomic: true });
    if (outcomes.some((outcome) => outcome !== 'ok'))
      throw new UpstreamError('The refs of the upstream exclude each other.');
  });
}

/** From the refs here to those there; refs that agree are left out. */
export function planUpdates(refs: Refs, listing: readonly RemoteRef[]): RefUpdate[] {
  const updates: RefUpdate[] = [];
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
 * The newest commits here, then ever fewer of the older ones: one round of negotiation finds a common
 * commit close to the best one.
 */
export function chooseHaves(git: GitRepository): Oid[] {
  const tips = new Set<Oid>();
  for (const prefix of MIRRORED) {
    for (const [, { oid }] of git.refs.entries(prefix)) {
      const commit = peelToCommit(git.objects, oid);
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
      // Every commit of the first 64, then each step a tenth longer than the one before.
      next += Math.max(1, Math.floor(walked / 64));
    }
    walked += 1;
    if (haves.length === MOST_HAVES || walked === MOST_WALKED) break;
  }
  return haves;
}

function requireCommits(updates: readonly RefUpdate[], objects: Quarantine): void {
  for (const { name, new: oid } of updates) {
    if (oid === ZERO_OID || !name.startsWith('refs/heads/')) continue;
    if (objects.typeOf(objects.find(oid)) !== COMMIT) throw new UpstreamError('A branch of the upstream is no commit.');
  }
}

function permitted(
  git: GitRepository,
  updates: readonly RefUpdate[],
  { mayMove }: MirrorOptions,
): readonly RefUpdate[] {
  if (!mayMove) return updates;
  return updates.filter((update) => mayMove(update, isForced(git, update)));
}
