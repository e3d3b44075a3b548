import { z } from 'zod';
import { type PiecedBody, respondConditionally } from '../http/conditional.js';
import { problem, translateError } from '../http/problem.js';
import { empty } from '../http/reply.js';
import { StoreFull } from '../memory/memory-budget.js';
import { type HandlerContext, operationsOf } from '../operation/operation.js';
import { isLfsOid, type LfsObject } from '../repositories/lfs-objects.js';
import { objectName, outOfRoom } from './batch.js';
import { ObjectIntake } from './intake.js';
import { LFS_JSON, refuseImportRemote } from './remote.js';

const operation = operationsOf('Git', { dialect: 'lfs' });

// Operations of the Git LFS "basic" transfer adapter (git-lfs, docs/api/basic-transfers.md): download, upload and
// verify one object.

const OBJECT_PATH = '/{repo_name}.git/info/lfs/objects/{oid}';
const OCTETS = 'application/octet-stream';

export const lfsDownloadObject = operation({
  summary: 'Git LFS: download an object',
  routes: [{ method: 'GET', path: OBJECT_PATH }],
  replies: () => ({ 200: OCTETS, 206: OCTETS, 304: '' }),
  errors: ['not_found', 'precondition_failed', 'range_not_satisfiable'],
  handle: (ctx) => {
    refuseImportRemote(ctx);
    const { oid } = ctx.params;
    const object = ctx.repository.record.lfsObjects?.get(oid!);
    if (!object) throw objectNotFound();
    return respondConditionally(
      {
        etag: `"${oid}"`,
        lastModified: Math.floor(object.storedAt / 1000),
        body: bodyOf(object),
        headers: { 'content-type': OCTETS, 'x-content-type-options': 'nosniff' },
      },
      ctx.header,
      ctx.method,
    );
  },
});

export const lfsUploadObject = operation({
  summary: 'Git LFS: upload an object',
  routes: [{ method: 'PUT', path: OBJECT_PATH }],
  query: () =>
    z.object({
      size: z
        .string()
        .regex(/^\d{1,15}$/, 'must be a size in bytes, a whole number')
        .optional(),
    }),
  reads: 'stream',
  consumes: OCTETS,
  replies: () => ({ 200: '' }),
  errors: ['insufficient_storage'],
  handle: async (ctx) => {
    const { world, repository, params, query } = ctx;
    const oid = params.oid!;
    if (!isLfsOid(oid)) {
      throw notTheObject('The oid must be a SHA-256 of 64 lower-case hexadecimal digits.');
    }
    requirePlainContent(ctx);
    const announced = query.size === undefined ? undefined : Number(query.size);
    requireAnnouncedLength(ctx, announced);
    // If the repository already has the object, the upload is only hashed to verify it, and not stored again.
    const isHeld = repository.record.lfsObjects?.get(oid) !== undefined;
    const receive = async () => {
      using intake = new ObjectIntake(isHeld ? undefined : world.engine.memory);
      for await (const piece of ctx.stream(world.limits.maxLfsObjectBytes)) intake.add(piece);
      if (announced !== undefined && intake.size !== announced)
        throw notTheObject(sizeMismatch(intake.size, announced));
      if (intake.digest() !== oid) throw notTheObject(`The SHA-256 of the uploaded content is not the oid ${oid}.`);
      repository.requireWritable();
      // The object is looked up again, because another client may have uploaded it in the meantime.
      if (!repository.record.lfsObjects?.get(oid)) {
        repository.addLfsObject(oid, intake.keep(world.state.clock.now()));
      }
    };
    await translateError(StoreFull, receive, ({ limit }) => outOfRoom(limit));
    return empty(200);
  },
});

export const lfsVerifyObject = operation({
  summary: 'Git LFS: check that an object was uploaded',
  routes: [{ method: 'POST', path: '/{repo_name}.git/info/lfs/objects/verify' }],
  effect: 'read',
  json: LFS_JSON,
  body: objectName,
  replies: () => ({ 200: '' }),
  errors: ['not_acceptable', 'not_found', 'unprocessable_entity'],
  handle: ({ repository, body }) => {
    const object = repository.record.lfsObjects?.get(body.oid);
    if (!object) throw objectNotFound();
    if (object.size !== body.size) throw problem('unprocessable_entity', sizeMismatch(object.size, body.size));
    return empty(200);
  },
});

/**
 * Returns the error for an object that the repository does not have. The error does not depend on other repositories,
 * so it does not reveal whether one of them has the object.
 */
function objectNotFound() {
  return problem('not_found', 'The repository has no LFS object with this oid.');
}

/**
 * Returns the error for an upload whose content does not match its id.
 *
 * The status is not 422, because git-lfs interprets 422 as an unsupported Content-Type. It would then skip the object
 * and push the commits that need it (tq/transfer_queue.go, unsupportedContentType).
 */
function notTheObject(detail: string) {
  return problem('bad_request', detail);
}

function sizeMismatch(actual: number, expected: number): string {
  return `The object has ${actual} bytes, but the request says ${expected}.`;
}

/**
 * Throws an error for an upload of partial content, as RFC 9110, section 14.5, requires. Also throws an error for
 * compressed content, because the id is the hash of the uncompressed content.
 */
function requirePlainContent({ header }: Pick<HandlerContext, 'header'>): void {
  if (header('content-range') !== undefined)
    throw problem('bad_request', 'Content-Range is not supported. Upload the complete object in one request.');
  if ((header('content-encoding') ?? 'identity').toLowerCase() === 'identity') return;
  throw problem('unsupported_media_type', 'Content-Encoding is not supported. Upload the object uncompressed.');
}

/**
 * Checks the length of an upload before its body is read. Throws an error if the length shows that the upload must
 * fail. `announced` is the size in bytes in the upload URL of the batch response; undefined if absent.
 */
function requireAnnouncedLength(
  { header, world }: Pick<HandlerContext, 'header' | 'world'>,
  announced: number | undefined,
): void {
  const length = header('content-length');
  const max = world.limits.maxLfsObjectBytes;
  const expected = length === undefined ? announced : Number(length);
  if (expected === undefined) return;
  if (announced !== undefined && announced !== expected) throw notTheObject(sizeMismatch(expected, announced));
  if (expected > max)
    throw problem(
      'payload_too_large',
      `The object has ${expected} bytes, but at most ${max} are allowed (--max-lfs-object-bytes).`,
    );
}

function bodyOf({ size, blocks }: LfsObject): PiecedBody {
  return {
    length: size,
    async *pieces(start, end) {
      let at = 0;
      for (const block of blocks) {
        if (at >= end) return;
        const part = block.subarray(Math.max(start - at, 0), end - at);
        if (part.length > 0) yield part;
        at += block.length;
      }
    },
  };
}
