import { z } from 'zod';
import { writeArchive } from '../../git/archive/archive.js';
import { InvalidPrefix, parsePrefix } from '../../git/archive/prefix.js';
import { problem, translateError } from '../../http/problem.js';
import { stream } from '../../http/reply.js';
import { operationsOf, routesOfRepository } from '../../operation/operation.js';
import { WorkLimitExceeded } from '../../schedule/meter.js';
import { runYielding } from '../../schedule/steps.js';
import { patternList, readSelection } from '../fields.js';
import { resolveRef } from '../resolve.js';

const operation = operationsOf('Files');

export const archive = operation({
  summary: 'Download a tree as tar.gz',
  routes: routesOfRepository('POST', 'archive'),
  scopes: ['git:read'],
  body: () =>
    z
      .object({
        ref: z.string().optional(),
        ephemeral: z.boolean().optional(),
        include_globs: patternList(),
        exclude_globs: patternList(),
        max_blob_size: z.int('must be a size in bytes, a whole number').min(0).optional(),
        archive: z.object({ prefix: z.string().optional() }).optional(),
      })
      .optional()
      .transform((body) => body ?? {}),
  replies: () => ({ 200: 'application/gzip' }),
  work: { limit: 'workTimeout' },
  errors: ['ref_not_found', 'internal_error', 'bad_gateway', 'service_unavailable'],
  handle: async (ctx) => {
    const { world, repository, body, meter } = ctx;
    const prefix = await translateError(
      InvalidPrefix,
      () => parsePrefix(body.archive?.prefix ?? ''),
      ({ message }) => problem('bad_request', `archive.prefix: ${message}.`),
    );
    const selection = readSelection({
      includeGlobs: ['include_globs', body.include_globs],
      excludeGlobs: ['exclude_globs', body.exclude_globs],
    });
    const selects = await inTime(() => runYielding(selection, meter));
    // The setting `archiveMissingRef` selects the status of a ref that does not resolve, because the specification
    // lists both 400 and 404.
    const missing = world.variants.archiveMissingRef === '400' ? 'bad_request' : undefined;
    const { commit } = await inTime(() => resolveRef(ctx, { ref: body.ref, ephemeral: body.ephemeral, missing }));
    const content = writeArchive(repository.git.objects, {
      commit,
      prefix,
      selects,
      maxBlobSize: body.max_blob_size,
      meter,
    });
    return stream(200, await inTime(() => begun(content)), {
      'content-type': 'application/gzip',
      'content-disposition': disposition(`${repository.name}-${commit.slice(0, 7)}.tar.gz`),
      'cache-control': 'no-store',
    });
  },
});

/**
 * Waits for the first piece of `content`, then returns all of it. The response has not begun until then, so an earlier
 * failure can still change the status.
 */
async function begun(content: AsyncGenerator<Buffer, void, void>): Promise<AsyncIterable<Buffer>> {
  const first = await content.next();
  return (async function* () {
    if (first.value) yield first.value;
    yield* content;
  })();
}

/**
 * Calls `work`. If `work` exceeds the request's CPU time limit, throws `internal_error`, which the specification lists
 * for this operation.
 */
function inTime<T>(work: () => Promise<T>): Promise<T> {
  return translateError(WorkLimitExceeded, work, () =>
    problem('internal_error', 'Creating the archive took more CPU time than --work-timeout allows.'),
  );
}

/**
 * Returns the `Content-Disposition` header of a download, of type `attachment`. In the file name, slashes become
 * dashes. Quotation marks, backslashes and characters outside printable ASCII become underscores; the parameter
 * `filename*` (RFC 6266) then has the exact name.
 */
function disposition(fileName: string): string {
  const name = fileName.replaceAll('/', '-');
  const ascii = name.replace(/[^\x20-\x7e]|["\\]/g, '_');
  const extended = encodeURIComponent(name).replace(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"${ascii === name ? '' : `; filename*=UTF-8''${extended}`}`;
}
