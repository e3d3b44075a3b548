import { type Mutant, patched, proxied } from '../mutant.js';
import { PACK } from '../places.js';
import { ignoresMember } from '../rewrites.js';
import { type Chunk, changesPack, type FileOperation } from '../streams.js';

/** Maximum decoded size of one chunk, in bytes. */
const CHUNK = 4 * 1024 * 1024;

const bytesOf = ({ data = '' }: Chunk): Buffer => Buffer.from(data, 'base64');

/** Changes file operations before the server reads them. */
function changesFiles(change: (file: FileOperation) => void) {
  return changesPack(({ files }) => {
    for (const file of files) change(file);
  });
}

/** Changes chunks before the server reads them. */
function changesChunks(change: (chunks: Chunk[]) => Chunk[]) {
  return changesPack((body) => {
    body.chunks = change(body.chunks);
  });
}

/** Returns true if no later chunk belongs to the same file. */
function isLastOf(chunk: Chunk, index: number, chunks: readonly Chunk[]): boolean {
  return !chunks.slice(index + 1).some(({ content_id }) => content_id === chunk.content_id);
}

export const rows: readonly Mutant[] = [
  proxied(
    'pack-names-files-after-their-content',
    'pack.file.path.required',
    'names a file after its content_id',
    changesFiles((file) => {
      file.path ??= file.content_id;
    }),
  ),
  proxied(
    'pack-drops-one-slash-only',
    'pack.file.path.leading-slash',
    'drops one slash from the beginning of a path, and refuses two',
    changesFiles((file) => {
      file.path = file.path?.replace(/^\/\/+/, './');
    }),
  ),
  proxied(
    'pack-wants-an-operation',
    'pack.file.op.default',
    'wants every operation to be named',
    changesFiles((file) => {
      file.operation ??= '';
    }),
  ),
  proxied(
    'pack-adds-every-file-at-the-root',
    'pack.file.op.upsert-add',
    'adds every file at the root',
    changesFiles((file) => {
      file.path = file.path?.replace(/.*\//, '');
    }),
  ),
  patched('pack-keeps-files-that-are-there', 'pack.file.op.upsert-replace', 'keeps the bytes of a file that is there', {
    file: 'git/object/tree-edit.js',
    find: 'entry?.mode === mode && entry.oid === upsert.oid',
    replace: 'entry !== undefined',
  }),
  proxied(
    'pack-wants-a-chunk-for-a-delete',
    'pack.file.op.delete-no-chunk',
    'wants a chunk for a delete too',
    changesPack(({ files, chunks }) => {
      for (const file of files) {
        if (chunks.every(({ content_id }) => content_id !== file.content_id)) file.operation = 'upsert';
      }
    }),
  ),
  patched(
    'pack-deletes-what-it-refuses-to-delete',
    'pack.file.op.delete-no-content_id',
    'misses the content_id of a delete once it has committed',
    [
      {
        file: 'api/operations/commit-pack.js',
        find: "operation === 'delete' && variants.deleteContentId === 'optional'",
        replace: "operation === 'delete'",
      },
      {
        file: 'api/operations/commit-pack.js',
        find: "const blobs = edits.filter((edit) => 'content' in edit).length;",
        replace: `if (metadata.files.some((file) => file.content_id === undefined)) throw problem('bad_request', 'No content_id.'); const blobs = edits.filter((edit) => 'content' in edit).length;`,
      },
    ],
  ),
  proxied(
    'pack-takes-any-operation-for-an-upsert',
    'pack.file.op.unknown',
    'takes an operation that it does not know for an upsert',
    changesFiles((file) => {
      if (file.operation !== 'delete') file.operation = 'upsert';
    }),
  ),
  proxied(
    'pack-needs-no-content-id',
    'pack.file.content_id.required',
    'writes an empty file where there is no content_id',
    changesPack(({ files, chunks }) => {
      for (const file of files) {
        if (file.content_id !== undefined || file.operation === 'delete') continue;
        file.content_id = 'empty';
        chunks.push({ content_id: 'empty', data: '', eof: true });
      }
    }),
  ),
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
    'pack.chunk.no-eof',
    'takes the end of the stream for the end of every file',
    changesChunks((chunks) =>
      chunks.map((chunk, index) => (isLastOf(chunk, index, chunks) ? { ...chunk, eof: true } : chunk)),
    ),
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
    'pack-keeps-what-is-deleted',
    'pack.file.op.delete',
    'keeps what is deleted',
    ignoresMember(PACK, 'operation'),
  ),
  proxied('pack-ignores-modes', 'pack.file.mode.100755', 'does not look at modes', ignoresMember(PACK, 'mode')),
];
