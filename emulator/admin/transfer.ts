import { z } from 'zod';
import { readChunks, refuseContentEncoding } from '../http/body.js';
import { problem } from '../http/problem.js';
import { json, stream } from '../http/reply.js';
import type { MemoryTree } from '../sources/memory-tree.js';
import { adminRoute } from './route.js';

const TAR = 'application/x-tar';

export const exportState = adminRoute({
  method: 'POST',
  path: '/export',
  summary: 'Export the whole state as a tar archive of bare repositories and JSON',
  body: z.strictObject({
    include_secrets: z.boolean().optional().meta({
      description: 'True to include credentials of upstreams, secrets of webhooks and variables of deployments.',
    }),
  }),
  replies: { 200: TAR },
  handle: async ({ current, body }) => {
    const { exportArchive } = await import('../exports/export-archive.js');
    return stream(200, exportArchive(current, body.include_secrets ?? false), { 'content-type': TAR });
  },
});

export const importState = adminRoute({
  method: 'POST',
  path: '/import',
  summary: 'Import an export in place of the whole state, or a single repository; all or nothing',
  bodyType: TAR,
  replies: {
    200: z.object({
      content: z.enum(['world', 'repository']),
      repositories: z.int(),
      repository: z.record(z.string(), z.unknown()).optional(),
    }),
  },
  errors: ['request_timeout', 'payload_too_large', 'insufficient_storage'],
  handle: async ({ current, organization, request, sendContinue }) => {
    refuseContentEncoding(request);
    const { readTar } = await import('../exports/tar.js');
    const { importTree } = await import('../exports/read-state.js');
    const { SourceError } = await import('../sources/file-tree.js');
    const { StoreFull } = await import('../memory/memory-budget.js');
    const { memory } = current.engine;
    const { idleTimeout, maxHeldBytes } = current.config.limits;
    let heldBytes = 0;
    let tree: MemoryTree | undefined;
    const take = (bytes: number) => {
      memory.take(bytes);
      heldBytes += bytes;
    };
    try {
      const pieces = readChunks(request, { maxBytes: maxHeldBytes, idleTimeout, onBeforeRead: sendContinue });
      tree = await readTar(pieces, { title: 'The archive', take });
      const { content, repositories, repository } = await importTree(current, tree, organization);
      return json(200, { content, repositories, ...(repository && { repository: showSeeded(repository) }) });
    } catch (error) {
      // The memory of the archive is freed, because nothing from the archive was imported after these errors.
      if (error instanceof SourceError || error instanceof StoreFull) tree?.free();
      if (error instanceof SourceError) throw problem('bad_request', error.message);
      if (error instanceof StoreFull)
        throw problem('insufficient_storage', `The archive does not fit into memory, because ${error.message}.`);
      throw error;
    } finally {
      memory.give(heldBytes);
    }
  },
});

function showSeeded({ isNew, isFiles: _, defaultBranch, ...rest }: import('../sources/seeded.js').Seeded) {
  return { ...rest, is_new: isNew, default_branch: defaultBranch ?? null, commit: rest.commit ?? null };
}
