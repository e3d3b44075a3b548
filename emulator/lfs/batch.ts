import { z } from 'zod';
import { problem } from '../http/problem.js';
import { largeJson } from '../http/reply.js';
import { lazy } from '../memory/lazy.js';
import { type HandlerContext, operationsOf } from '../operation/operation.js';
import { heldBytesOf, isLfsOid, type LfsObject, NO_LFS_OBJECTS } from '../repositories/lfs-objects.js';
import { LFS_HEADERS, LFS_JSON, lfsUrlOf, refuseImportRemote } from './remote.js';

const operation = operationsOf('Git');

// Schemas of the LFS batch API (git-lfs, docs/api/batch.md). With this API, a client asks where to download or upload
// objects.

export const objectName = lazy(() => z.object({ oid: z.string(), size: z.int().min(0) }));
type ObjectName = z.infer<ReturnType<typeof objectName>>;

export const refBody = lazy(() => z.object({ name: z.string().nullish() }).nullish());

const batchBody = lazy(() =>
  z.object({
    operation: z.enum(['download', 'upload']),
    transfers: z.array(z.string()).nullish(),
    ref: refBody(),
    objects: z.array(objectName()),
    hash_algo: z.string().nullish(),
  }),
);
type BatchBody = z.infer<ReturnType<typeof batchBody>>;
type BatchContext = HandlerContext<unknown, BatchBody>;

const action = lazy(() =>
  z.object({
    href: z.string(),
    expires_in: z.int().optional(),
  }),
);
type Action = z.infer<ReturnType<typeof action>>;

const objectInResponse = lazy(() =>
  objectName().extend({
    actions: z.partialRecord(z.enum(['download', 'upload', 'verify']), action()).optional(),
    error: z.object({ code: z.int(), message: z.string() }).optional(),
  }),
);

/** Maximum value of `expires_in` (remaining validity of a URL), in seconds (git-lfs, docs/api/batch.md). */
const LONGEST = 2 ** 31 - 1;

export const lfsBatch = operation({
  summary: 'Git LFS: get the addresses for downloading objects, or with git:write for uploading them',
  routes: [{ method: 'POST', path: '/{repo_name}.git/info/lfs/objects/batch' }],
  scopes: ['git:read'],
  purposeOf: (_, body) =>
    body?.operation === 'upload'
      ? { scopes: ['git:write'], effect: 'write' }
      : { scopes: ['git:read'], effect: 'read' },
  dialect: 'lfs',
  json: LFS_JSON,
  body: batchBody,
  replies: () => ({
    200: z.object({ transfer: z.string(), objects: z.array(objectInResponse()), hash_algo: z.string() }),
  }),
  errors: ['not_acceptable', 'unprocessable_entity', 'insufficient_storage', 'sync_in_progress'],
  handle: (ctx) => {
    const { operation, transfers, objects, hash_algo } = ctx.body;
    if (operation === 'download') refuseImportRemote(ctx);
    const max = ctx.world.limits.maxLfsBatch;
    if (objects.length > max)
      throw problem(
        'payload_too_large',
        `The batch has ${objects.length} objects, but at most ${max} are allowed (--max-lfs-batch).`,
      );
    if (transfers && transfers.length > 0 && !transfers.includes('basic')) {
      throw problem('unprocessable_entity', 'transfers must include "basic", the only supported transfer adapter.');
    }
    if (operation === 'upload') requireRoom(ctx);
    const hashError =
      (hash_algo ?? 'sha256') === 'sha256'
        ? undefined
        : fail(409, 'hash_algo must be sha256, the only supported hash algorithm.');
    const actions = actionsOf(ctx);
    const response = (name: ObjectName) => ({ ...name, ...(hashError ?? responseFor(ctx, name, actions)) });
    return largeJson(200, { transfer: 'basic', objects: objects.map(response), hash_algo: 'sha256' }, LFS_HEADERS);
  },
});

function responseFor(
  { world, repository, body }: BatchContext,
  { oid, size }: ObjectName,
  actions: Actions,
): BatchResponse {
  if (!isLfsOid(oid)) return fail(422, 'The oid must be a SHA-256 of 64 lower-case hexadecimal digits.');
  const held = repository.record.lfsObjects?.get(oid);
  if (held && held.size !== size)
    return fail(422, `The stored object has ${held.size} bytes, but the request says ${size}.`);
  if (body.operation === 'download') {
    if (!held) return fail(404, 'The repository has no LFS object with this oid.');
    return { actions: { download: actions.download(oid) } };
  }
  // An upload response has no actions for an object that the server already has, as the batch API requires.
  if (held) return {};
  const max = world.limits.maxLfsObjectBytes;
  if (size > max)
    return fail(422, `The object has ${size} bytes, but at most ${max} are allowed (--max-lfs-object-bytes).`);
  return { actions: { upload: actions.upload(oid, size), verify: actions.verify } };
}

type BatchResponse = Partial<z.infer<ReturnType<typeof objectInResponse>>>;

function fail(code: number, message: string): BatchResponse {
  return { error: { code, message } };
}

/**
 * Throws `insufficient_storage` if the objects that the client wants to upload exceed the memory limit. The client then
 * does not upload them.
 */
function requireRoom({ world, repository, body }: BatchContext): void {
  const { lfsObjects = NO_LFS_OBJECTS } = repository.record;
  const missing = new Map<string, Pick<LfsObject, 'size'>>();
  for (const { oid, size } of body.objects) {
    if (size <= world.limits.maxLfsObjectBytes && isLfsOid(oid) && !lfsObjects.get(oid)) missing.set(oid, { size });
  }
  let bytes = 0;
  for (const object of missing.values()) bytes += heldBytesOf(object);
  if (bytes > world.engine.memory.limit - world.engine.memory.used) throw outOfRoom(world.engine.memory.limit);
}

export function outOfRoom(limit: number) {
  return problem(
    'insufficient_storage',
    `The objects do not fit into memory, which is limited to ${limit} bytes (--max-held-bytes).`,
  );
}

interface Actions {
  readonly download: (oid: string) => Action;
  readonly upload: (oid: string, size: number) => Action;
  readonly verify: Action;
}

/**
 * Returns functions that create the actions of a batch response. An action contains the URL at which the client
 * downloads or uploads an object. The URL contains the announced size and never a credential.
 *
 * An action has no `header`, and its object is not marked as `authenticated`. git-lfs therefore finds the credential in
 * the way it found the one of this request. If the response contained the credential, a client that uses
 * `http.extraHeader` would send it twice.
 */
function actionsOf(ctx: BatchContext): Actions {
  const url = lfsUrlOf(ctx);
  const { exp } = ctx.claims;
  const left = exp === undefined ? undefined : Math.min(Math.ceil(exp - ctx.world.state.clock.now() / 1000), LONGEST);
  const action = (path: string): Action => ({
    href: `${url}/objects/${path}`,
    ...(left !== undefined && { expires_in: left }),
  });
  return {
    download: (oid) => action(oid),
    upload: (oid, size) => action(`${oid}?size=${size}`),
    verify: action('verify'),
  };
}
