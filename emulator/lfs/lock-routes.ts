import { z } from 'zod';
import { problem } from '../http/problem.js';
import { json } from '../http/reply.js';
import { lazy } from '../memory/lazy.js';
import { type HandlerContext, operationsOf } from '../operation/operation.js';
import { type LfsLock, type LfsLocks, NO_LOCKS } from '../repositories/lfs-locks.js';
import { repositoryNotFound } from '../repositories/lifecycle.js';
import { isoTime } from '../time/iso-8601.js';
import { refBody } from './batch.js';
import { LFS_HEADERS, LFS_JSON } from './remote.js';

// Operations of the Git LFS locking API (git-lfs, docs/api/locking.md). A lock belongs to the `sub` claim of the token
// that created it.

const LOCKS_PATH = '/{repo_name}.git/info/lfs/locks';
/** Number of locks in one response, both maximum and default. */
const PAGE = 100;
/** Maximum length in bytes of the path of a locked file, as on Linux (`PATH_MAX`). */
const MAX_PATH_BYTES = 4_096;

const shownLock = lazy(() =>
  z.object({
    id: z.string(),
    path: z.string(),
    locked_at: z.string(),
    owner: z.object({ name: z.string() }),
  }),
);
const lockReply = lazy(() => z.object({ lock: shownLock() }));

// Operations on locks require the scope for pushes (`git:write`). GET requests do not.
const operation = operationsOf('Git', { dialect: 'lfs', json: LFS_JSON });

export const lfsCreateLock = operation({
  summary: 'Git LFS: lock a file',
  routes: [{ method: 'POST', path: LOCKS_PATH }],
  body: () => z.object({ path: z.string(), ref: refBody() }),
  replies: () => ({ 201: lockReply() }),
  errors: ['not_acceptable', 'conflict', 'unprocessable_entity', 'insufficient_storage'],
  handle: (ctx) => {
    const { world, repository, claims, body } = ctx;
    const path = readPath(body.path);
    const locks = locksOf(ctx);
    const existing = locks.at(path);
    if (existing)
      throw problem('conflict', `The file is already locked by ${existing.owner}.`, {
        extra: { lock: show(existing) },
      });
    const max = world.limits.maxLfsLocks;
    if (locks.size >= max)
      throw problem(
        'insufficient_storage',
        `The repository already has ${max} locks, the maximum (--max-lfs-locks). Remove a lock first.`,
      );
    const lock = { id: world.state.ids.uuid('lfs-lock'), path, owner: claims.sub, lockedAt: world.state.clock.now() };
    repository.update({ lfsLocks: locks.with(lock) });
    return json(201, { lock: show(lock) }, LFS_HEADERS);
  },
});

export const lfsListLocks = operation({
  summary: 'Git LFS: list the locks',
  routes: [{ method: 'GET', path: LOCKS_PATH }],
  // Listing locks requires only the scope for reading, as git-lfs specifies (docs/api/locking.md). This scope is the
  // default of GET requests.
  query: () =>
    z.object({
      path: z.string().optional(),
      id: z.string().optional(),
      cursor: z.string().optional(),
      limit: z
        .string()
        .regex(/^\d{0,9}$/, 'must be a whole number of at most 9 digits')
        .optional(),
      refspec: z.string().optional(),
    }),
  replies: () => ({ 200: z.object({ locks: z.array(shownLock()), next_cursor: z.string().optional() }) }),
  errors: ['not_acceptable'],
  handle: (ctx) => {
    const { path, id, cursor, limit } = ctx.query;
    const isMeant = (lock: LfsLock) => (!path || lock.path === path) && (!id || lock.id === id);
    const { page, next } = pageOf(ctx, cursor, Number(limit), isMeant);
    return json(200, { locks: page.map(show), ...next }, LFS_HEADERS);
  },
});

export const lfsVerifyLocks = operation({
  summary: 'Git LFS: list the locks of the caller and of others before a push',
  routes: [{ method: 'POST', path: `${LOCKS_PATH}/verify` }],
  effect: 'read',
  body: () => z.object({ ref: refBody(), cursor: z.string().nullish(), limit: z.int().min(0).nullish() }),
  replies: () => ({
    200: z.object({ ours: z.array(shownLock()), theirs: z.array(shownLock()), next_cursor: z.string().optional() }),
  }),
  errors: ['not_acceptable', 'unprocessable_entity'],
  handle: (ctx) => {
    const { cursor, limit } = ctx.body;
    const { page, next } = pageOf(ctx, cursor, limit);
    const isOurs = ({ owner }: LfsLock) => owner === ctx.claims.sub;
    const ours = page.filter(isOurs).map(show);
    const theirs = page.filter((lock) => !isOurs(lock)).map(show);
    return json(200, { ours, theirs, ...next }, LFS_HEADERS);
  },
});

export const lfsUnlock = operation({
  summary: 'Git LFS: remove a lock',
  routes: [{ method: 'POST', path: `${LOCKS_PATH}/{lock_id}/unlock` }],
  body: () => z.object({ force: z.boolean().nullish(), ref: refBody() }),
  replies: () => ({ 200: lockReply() }),
  errors: ['not_acceptable', 'not_found', 'unprocessable_entity'],
  handle: (ctx) => {
    const { repository, params, claims, body } = ctx;
    const locks = locksOf(ctx);
    const lock = locks.get(params.lock_id!);
    if (!lock) throw problem('not_found', 'The repository has no lock with this id.');
    // A lock of another user is removed only with `force` (git-lfs, docs/api/locking.md).
    if (lock.owner !== claims.sub && body.force !== true) {
      throw problem('forbidden', `The lock belongs to ${lock.owner}. Set force to true to remove it nevertheless.`);
    }
    repository.update({ lfsLocks: locks.without(lock) });
    return json(200, { lock: show(lock) }, LFS_HEADERS);
  },
});

/**
 * Returns the current locks of the repository. Throws `repository_not_found` if the repository was deleted while the
 * request body arrived.
 */
function locksOf({ repository }: Pick<HandlerContext, 'repository'>): LfsLocks {
  const { state, lfsLocks = NO_LOCKS } = repository.record;
  if (state === 'deleted') throw repositoryNotFound();
  return lfsLocks;
}

function show({ id, path, owner, lockedAt }: LfsLock): z.infer<ReturnType<typeof shownLock>> {
  // The milliseconds are removed, because git-lfs specifies `locked_at` as RFC 3339 with a precision of seconds
  // (docs/api/locking.md).
  const locked_at = isoTime(lockedAt).replace(/\.\d+/, '');
  return { id, path, locked_at, owner: { name: owner } };
}

function readPath(path: string): string {
  const fail = (why: string) => problem('unprocessable_entity', `path ${why}.`);
  if (path === '') throw fail('is empty');
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw fail(`is longer than ${MAX_PATH_BYTES} bytes`);
  if (/\0|\p{Surrogate}/u.test(path)) throw fail('contains a NUL or invalid Unicode');
  if (path.startsWith('/')) throw fail('must be relative to the root of the work tree, without a slash at the start');
  return path;
}

/**
 * Returns one page of the repository's locks, sorted by path. `limit` is the requested number of locks. If `limit` is
 * absent, 0 or too large, at most `PAGE` locks are returned. `isMeant` returns true for the locks that the request
 * selects.
 */
function pageOf(
  ctx: Pick<HandlerContext, 'repository' | 'world'>,
  cursor: string | null | undefined,
  limit: number | null | undefined,
  isMeant: (lock: LfsLock) => boolean = () => true,
): { page: LfsLock[]; next: { next_cursor?: string } } {
  const cursors = ctx.world.engine.lockCursors;
  const purpose = ctx.repository.id;
  // The path in the cursor is encoded in base64. The cursor of any path then stays below the maximum length of cursors.
  const after = cursor ? Buffer.from(cursors.read<string>(purpose, cursor), 'base64').toString() : undefined;
  const max = limit && limit > 0 ? Math.min(limit, PAGE) : PAGE;
  const page: LfsLock[] = [];
  for (const lock of locksOf(ctx).list(after)) {
    if (!isMeant(lock)) continue;
    if (page.length === max) {
      const last = Buffer.from(page.at(-1)!.path).toString('base64');
      return { page, next: { next_cursor: cursors.write(purpose, last) } };
    }
    page.push(lock);
  }
  return { page, next: {} };
}
