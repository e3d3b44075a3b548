import { type Mutant, patched, proxied } from '../mutant.js';
import { PACK } from '../places.js';
import { answersBody } from '../rewrites.js';
import { type Chunk, changesPack } from '../streams.js';

/** Maximum size of one chunk after base64 decoding, in bytes. */
const CHUNK = 4 * 1024 * 1024;

const bytesOf = ({ data = '' }: Chunk): Buffer => Buffer.from(data, 'base64');

/** Changes the chunks of commit-pack requests before the server reads them. */
function changesChunks(change: (chunks: Chunk[]) => Chunk[]) {
  return changesPack((body) => {
    body.chunks = change(body.chunks);
  });
}

/** Returns true if this chunk is the last chunk of its file. */
function isLastOf(chunk: Chunk, index: number, chunks: readonly Chunk[]): boolean {
  return !chunks.slice(index + 1).some(({ content_id }) => content_id === chunk.content_id);
}

export const rows: readonly Mutant[] = [
  proxied(
    'pack-passes-over-what-is-no-base64',
    'pack.chunk.base64.invalid',
    'passes over characters that are no base64',
    changesChunks((chunks) => chunks.map((chunk) => ({ ...chunk, data: bytesOf(chunk).toString('base64') }))),
  ),
  proxied(
    'pack-passes-over-chunks-of-no-file',
    'pack.chunk.unknown-content_id',
    'passes over chunks that belong to no file',
    changesPack((body) => {
      const ids = body.files.map(({ content_id }) => content_id);
      body.chunks = body.chunks.filter(({ content_id }) => ids.includes(content_id));
    }),
  ),
  proxied(
    'pack-needs-no-chunk',
    'pack.chunk.missing',
    'takes a file without chunks for an empty one',
    changesPack(({ files, chunks }) => {
      for (const { content_id, operation } of files) {
        if (operation === 'delete' || content_id === undefined) continue;
        if (chunks.every((chunk) => chunk.content_id !== content_id)) chunks.push({ content_id, data: '', eof: true });
      }
    }),
  ),
  proxied(
    'pack-needs-no-eof',
    'pack.chunk.no-eof#false',
    'takes the end of the stream for the end of every file',
    changesChunks((chunks) =>
      chunks.map((chunk, index) => (isLastOf(chunk, index, chunks) ? { ...chunk, eof: true } : chunk)),
    ),
  ),
  proxied(
    'pack-passes-over-chunks-after-eof',
    'pack.chunk.no-eof#after-eof',
    'passes over the chunks of a file after the chunk with eof true',
    changesChunks((chunks) => {
      const ended = new Set<string | undefined>();
      return chunks.filter(({ content_id, eof }) => {
        if (ended.has(content_id)) return false;
        if (eof === true) ended.add(content_id);
        return true;
      });
    }),
  ),
  proxied(
    'pack-keeps-the-last-chunk',
    'pack.chunk.multi',
    'keeps only the last chunk of a file',
    changesChunks((chunks) => chunks.filter(isLastOf)),
  ),
  proxied(
    'pack-joins-chunks-in-reverse-order',
    'pack.chunk.multi',
    'joins the first two chunks of a file in reverse order',
    changesChunks((chunks) => {
      const [first, second, ...more] = chunks;
      const isSwapped = first?.eof === false && second?.eof === false && first.content_id === second.content_id;
      return isSwapped ? [second, first, ...more] : chunks;
    }),
  ),
  proxied(
    'pack-takes-less-than-4-mib',
    'pack.chunk.max-4mib.ok',
    'takes only chunks of less than 4 MiB',
    changesChunks((chunks) =>
      chunks.map((chunk) =>
        bytesOf(chunk).length === CHUNK ? { ...chunk, data: Buffer.alloc(CHUNK + 1).toString('base64') } : chunk,
      ),
    ),
  ),
  proxied(
    'pack-takes-chunks-of-any-size',
    'pack.chunk.max-4mib.over',
    'takes chunks of any size',
    changesChunks((chunks) =>
      chunks.flatMap((chunk) => {
        const bytes = bytesOf(chunk);
        if (bytes.length <= CHUNK) return [chunk];
        const parts = [bytes.subarray(0, CHUNK), bytes.subarray(CHUNK)];
        return parts.map((part, index) => ({ ...chunk, data: part.toString('base64'), eof: index === 1 }));
      }),
    ),
  ),
  proxied(
    'pack-passes-over-empty-chunks',
    'pack.chunk.empty-file',
    'passes over chunks without data',
    changesChunks((chunks) => chunks.filter(({ data }) => data !== '')),
  ),
  proxied(
    'pack-takes-url-safe-base64',
    'pack.chunk.base64.url-alphabet',
    'takes data in the URL-safe alphabet of base64',
    changesChunks((chunks) =>
      chunks.map(({ data, ...chunk }) => ({
        ...chunk,
        ...(data !== undefined && { data: data.replaceAll('-', '+').replaceAll('_', '/') }),
      })),
    ),
  ),
  proxied(
    'pack-takes-missing-data-for-empty-data',
    'pack.chunk.base64.invalid#data',
    'takes a chunk without data for an empty one',
    changesChunks((chunks) => chunks.map((chunk) => ({ data: '', ...chunk }))),
  ),
  proxied(
    'pack-checks-the-first-chunk-only',
    'pack.chunk.base64.invalid#later-chunk',
    'passes over characters that are no base64 after the first chunk',
    changesChunks((chunks) =>
      chunks.map((chunk, index) => (index === 0 ? chunk : { ...chunk, data: bytesOf(chunk).toString('base64') })),
    ),
  ),
  proxied(
    'pack-ignores-base64-data-after-padding',
    'pack.chunk.base64.invalid#inner-padding',
    'ignores base64 data after the first padding',
    changesChunks((chunks) =>
      chunks.map(({ data, ...chunk }) => ({
        ...chunk,
        ...(data !== undefined && { data: data.replace(/(=+)[^=].*$/, '$1') }),
      })),
    ),
  ),
  patched(
    'pack-commits-the-complete-files-and-refuses',
    ['pack.chunk.missing#one-of-several', 'pack.atomic'],
    'commits the files that are complete, and then refuses the request',
    [
      {
        file: 'api/operations/commit-pack.js',
        find: 'if (!complete)',
        replace: 'if (!complete && (this.ctx.world.isIncomplete = true)) return { path, delete: true }; if (!complete)',
      },
      {
        file: 'api/operations/commit-pack.js',
        find: "const blobs = edits.filter((edit) => 'content' in edit).length;",
        replace: `const blobs = edits.filter((edit) => 'content' in edit).length;
        if (ctx.world.isIncomplete) {
          ctx.world.isIncomplete = false;
          throw problem('bad_request', 'A file is incomplete.');
        }`,
      },
    ],
  ),
  patched(
    'pack-drops-incomplete-files',
    'pack.chunk.missing#one-of-several',
    'leaves out a file without chunks if another file has some',
    {
      file: 'api/operations/commit-pack.js',
      find: 'if (!complete)',
      replace: 'if (!complete && this.changes.length > 1) return { path, delete: true }; if (!complete)',
    },
  ),
  proxied(
    'pack-takes-a-missing-eof-for-the-end',
    'pack.chunk.no-eof#absent',
    'takes a chunk without eof for the last one',
    changesChunks((chunks) => chunks.map((chunk) => ({ eof: true, ...chunk }))),
  ),
  proxied(
    'pack-reads-eof-as-text',
    'pack.chunk.no-eof#text',
    'takes the text "true" for eof true',
    changesChunks((chunks) => chunks.map((chunk) => ({ ...chunk, eof: String(chunk.eof) === 'true' }))),
  ),
  proxied(
    'pack-ends-every-file-with-one-eof',
    'pack.chunk.no-eof#another-file',
    'takes eof true of the last chunk for the end of every file',
    changesChunks((chunks) =>
      chunks.map((chunk, index) =>
        chunks.at(-1)?.eof === true && isLastOf(chunk, index, chunks) ? { ...chunk, eof: true } : chunk,
      ),
    ),
  ),
  proxied(
    'pack-joins-base64-before-it-decodes',
    'pack.chunk.multi#padding',
    'joins the base64 text of all chunks, and decodes it up to the first padding',
    changesChunks((chunks) => {
      const padded = new Set<string | undefined>();
      return chunks.map((chunk) => {
        const shown = padded.has(chunk.content_id) ? { ...chunk, data: '' } : chunk;
        if (chunk.data?.endsWith('=')) padded.add(chunk.content_id);
        return shown;
      });
    }),
  ),
  patched('pack-refuses-an-empty-last-chunk', 'pack.chunk.multi#empty-last', 'refuses an empty chunk after others', {
    file: 'api/operations/commit-pack.js',
    find: 'const part = await decodeChunk(data, line, this.ctx);\n        content.parts.push(part);',
    replace: `const part = await decodeChunk(data, line, this.ctx);
        if (part.length === 0 && content.parts.length > 0) throw problem('bad_request', 'The chunk is empty.');
        content.parts.push(part);`,
  }),
  proxied(
    'pack-pairs-chunks-with-files-by-order',
    'pack.chunk.multi#any-file-first',
    'takes the first chunks for the first file, whatever their content_id',
    changesPack(({ files, chunks }) => {
      const order = [...new Set(chunks.map(({ content_id }) => content_id))];
      const upserts = files.filter(({ operation, content_id }) => operation !== 'delete' && content_id !== undefined);
      if (order.length !== upserts.length || order.includes(undefined)) return;
      const ids = upserts.map(({ content_id }) => content_id);
      if (order.some((id) => !ids.includes(id))) return;
      for (const [index, file] of upserts.entries()) file.content_id = order[index];
    }),
  ),
  proxied(
    'pack-adds-alternating-chunks-to-the-file-before',
    'pack.chunk.multi#interleaved',
    'exchanges the chunks of two files if they alternate',
    changesChunks((chunks) => {
      const [a1, b1, a2, b2, ...more] = chunks;
      if (a1?.eof !== false || b1?.eof !== false || a2 === undefined || b2 === undefined || more.length > 0)
        return chunks;
      const isAlternating = a1.content_id === a2.content_id && b1.content_id === b2.content_id;
      if (!isAlternating || a1.content_id === b1.content_id) return chunks;
      return [{ ...a1, data: b1.data ?? '' }, { ...b1, data: a1.data ?? '' }, a2, b2];
    }),
  ),
  proxied(
    'pack-limits-the-first-chunk-only',
    'pack.chunk.max-4mib.over#later-chunk',
    'takes chunks of any size after the first',
    changesChunks((chunks) =>
      chunks.flatMap((chunk, index) => {
        const bytes = bytesOf(chunk);
        if (index === 0 || bytes.length <= CHUNK) return [chunk];
        const parts = [bytes.subarray(0, CHUNK), bytes.subarray(CHUNK)];
        return parts.map((part, at) => ({ ...chunk, data: part.toString('base64'), eof: at === 1 }));
      }),
    ),
  ),
  patched(
    'pack-empties-no-file',
    'pack.chunk.empty-file#existing',
    'keeps a file that exists if its new content is empty',
    {
      file: 'api/operations/commit-pack.js',
      find: 'const treeEdits = [];',
      replace: `const { findEntry } = await import('../../git/object/read-tree.js');
      for (const edit of [...edits]) {
        if (!('content' in edit) || edit.content.some((part) => part.length > 0)) continue;
        const old = await runYielding(findEntry(objects, base, edit.path), meter);
        if (old !== undefined) edits = edits.filter((other) => other !== edit);
      }
      const treeEdits = [];`,
    },
  ),
  proxied(
    'pack-breaks-over-a-chunk-that-is-null',
    'pack.chunk.base64.invalid#null',
    'answers a chunk that is null with 500',
    answersBody(PACK, (body) => body.includes('"blob_chunk":null'), 500),
  ),
];
