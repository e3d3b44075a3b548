import { type Mutant, patched, proxied } from '../mutant.js';
import { PACK } from '../places.js';
import { ignoresMember } from '../rewrites.js';
import { changesPack, type FileOperation } from '../streams.js';

/** Changes file operations before the server reads them. */
function changesFiles(change: (file: FileOperation) => void) {
  return changesPack(({ files }) => {
    for (const file of files) change(file);
  });
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
    'pack-keeps-what-is-deleted',
    'pack.file.op.delete',
    'keeps what is deleted',
    ignoresMember(PACK, 'operation'),
  ),
  proxied('pack-ignores-modes', 'pack.file.mode.100755', 'does not look at modes', ignoresMember(PACK, 'mode')),
];
