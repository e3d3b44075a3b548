import { z } from 'zod';
import { textOf } from '../../git/object/bytes.js';
import { readCommit } from '../../git/object/commit.js';
import { BLOB, readStepsAs } from '../../git/object/object.js';
import { findEntry } from '../../git/object/read-tree.js';
import { MODE_GITLINK, MODE_TREE } from '../../git/object/tree.js';
import { respondConditionally } from '../../http/conditional.js';
import { problem } from '../../http/problem.js';
import { operationsOf, routesOfRepository } from '../../operation/operation.js';
import { runYielding } from '../../schedule/steps.js';
import { flag, readFilePath } from '../fields.js';
import { resolveRef } from '../resolve.js';

const operation = operationsOf('Files');

export const readFile = operation({
  summary: 'Read a file',
  routes: routesOfRepository('GET', 'file'),
  query: () =>
    z.object({
      path: z.string('is required'),
      ref: z.string().optional(),
      ephemeral: flag().optional(),
      ephemeral_base: flag().optional(),
    }),
  replies: () => ({ 200: 'application/octet-stream', 206: 'application/octet-stream', 304: '' }),
  errors: ['ref_not_found', 'not_found', 'precondition_failed', 'range_not_satisfiable'],
  handle: async (ctx) => {
    const { world, repository, query, header, meter } = ctx;
    const path = readFilePath(query.path, 'path');
    const { git } = repository;
    const { tagRefs, missingEphemeralRef, headFileRange } = world.variants;
    const tags = tagRefs === 'accepted' || tagRefs === 'file-only';
    // The setting `missingEphemeralRef` selects the status of a ref that is missing in the ephemeral namespace. Two
    // tables of the specification list different statuses.
    const missing = query.ephemeral && missingEphemeralRef === '400' ? 'bad_request' : undefined;
    const { commit } = await resolveRef(ctx, { ref: query.ref, ephemeral: query.ephemeral, tags, missing });
    const entry = await runYielding(findEntry(git.objects, readCommit(git.objects, commit).tree, path), meter);
    if (!entry || entry.mode === MODE_TREE || entry.mode === MODE_GITLINK) {
      const detail = `File ${textOf(path)} does not exist at ${query.ref || 'the default branch'}.`;
      throw problem('not_found', detail, { variant: 'missingFile' });
    }
    const body = await runYielding(readStepsAs(git.objects, entry.oid, BLOB), meter);
    const touched = (await git.history.lastModified(commit, meter, path)).get(path) ?? commit;
    return respondConditionally(
      {
        etag: `"${entry.oid}"`,
        lastModified: readCommit(git.objects, touched).committer.seconds,
        body,
        headers: {
          'content-type': await contentTypeOf(textOf(path), body),
          'x-blob-sha': entry.oid,
          'x-last-commit-sha': touched,
          // These headers prevent a browser from running an HTML file of a repository as a page of the API's origin.
          'x-content-type-options': 'nosniff',
          'content-security-policy': "default-src 'none'; sandbox",
        },
      },
      header,
      ctx.method,
      headFileRange === '206' ? ['GET', 'HEAD'] : undefined,
    );
  },
});

/**
 * Extensions of source files that are served as plain text, because the registry of media types assigns them to other
 * formats. Example: `ts` is registered as a video format.
 */
const SOURCES = new Set([
  'ts',
  'mts',
  'cts',
  'tsx',
  'jsx',
  'rs',
  'go',
  'py',
  'rb',
  'sh',
  'c',
  'h',
  'cc',
  'cpp',
  'java',
  'toml',
  'lock',
]);
const PLAIN = 'text/plain; charset=utf-8';
/**
 * Number of bytes that are searched for NUL at the start of a file. As in Git, a NUL means that the file is binary
 * (`buffer_is_binary`).
 */
const SNIFFED_BYTES = 8000;

/** Returns the `Content-Type` header of a file. The extension decides; for unknown extensions, the content decides. */
export async function contentTypeOf(path: string, body: Buffer): Promise<string> {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const extension = name.includes('.') ? name.slice(name.lastIndexOf('.') + 1).toLowerCase() : '';
  if (SOURCES.has(extension)) return PLAIN;
  // The package is loaded at the first use, because loading its large table of types would slow down the start.
  const { default: mimeTypes } = await import('mime-types');
  const known = extension === '' ? false : mimeTypes.contentType(name);
  if (known) return known;
  return body.subarray(0, SNIFFED_BYTES).includes(0) ? 'application/octet-stream' : PLAIN;
}
