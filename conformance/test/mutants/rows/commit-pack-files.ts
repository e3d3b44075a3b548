import { type Mutant, type Patch, patched, proxied } from '../mutant.js';
import { META, PACK } from '../places.js';
import type { Rewrite } from '../proxy.js';
import { changesJson, ignoresMember } from '../rewrites.js';
import { changesPack, type FileOperation } from '../streams.js';

/** Changes each file operation of commit-pack requests before the server reads it. */
function changesFiles(change: (file: FileOperation) => void) {
  return changesPack(({ files }) => {
    for (const file of files) change(file);
  });
}

/**
 * Changes only the paths below `added/`. Rules add these files after the first commit, so the first commit stays
 * correct.
 */
function changesAddedPaths(change: (path: string) => string) {
  return changesFiles((file) => {
    if (file.path?.startsWith('added/')) file.path = change(file.path);
  });
}

/**
 * Makes the server ignore file operations for which `isDropped` returns true, except the first operation of a request.
 * Their chunks are removed as well.
 */
function dropsLater(isDropped: (file: FileOperation) => boolean) {
  return changesPack((body) => {
    const dropped = body.files.filter((file, index) => index > 0 && isDropped(file));
    const ids = dropped.map(({ content_id }) => content_id);
    body.files = body.files.filter((file) => !dropped.includes(file));
    body.chunks = body.chunks.filter(({ content_id }) => content_id === undefined || !ids.includes(content_id));
  });
}

/**
 * Makes the server delete more files than the request names. `condition` is a JavaScript expression that selects the
 * additional files. In it, `path` is a file's path, and `deleted` is the path in the request.
 */
function deletesAlso(condition: string): Patch {
  return {
    file: 'api/operations/commit-pack.js',
    find: 'const treeEdits = [];',
    replace: `const { readTree } = await import('../../git/object/read-tree.js');
      const filesOf = async (tree, at) => {
        const entries = await runYielding(readTree(objects, tree), meter);
        const below = await Promise.all(entries.map(({ name, mode, oid }) =>
          mode === 0o40000 ? filesOf(oid, at + name + '/') : [at + name]));
        return below.flat();
      };
      const paths = edits.some((edit) => edit.delete) ? await filesOf(base, '') : [];
      const meant = new Set(edits.map(({ path }) => path));
      for (const { path: deleted } of edits.filter((edit) => edit.delete)) {
        for (const path of paths) {
          if (meant.has(path) || !(${condition})) continue;
          meant.add(path);
          edits.push({ path, delete: true });
        }
      }
      const treeEdits = [];`,
  };
}

/** Renames the file of an operation without `operation` if an earlier operation without it had the same path. */
function keepsFilesWithoutOperation(): Rewrite {
  const written = new Set<unknown>();
  return changesFiles((file) => {
    if (file.operation !== undefined) return;
    if (written.has(file.path)) file.path = `${file.path}.new`;
    else written.add(file.path);
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
    'pack-replaces-only-on-request',
    'pack.file.op.default#replaces',
    'adds a file beside the one that exists if no operation is named',
    keepsFilesWithoutOperation(),
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
  proxied(
    'pack-normalizes-paths',
    'pack.file.op.upsert-add#normalization',
    'writes every path in Unicode normalization form C',
    changesAddedPaths((path) => path.normalize('NFC')),
  ),
  proxied(
    'pack-writes-paths-in-lower-case',
    'pack.file.op.upsert-add#case',
    'writes every path in lower case',
    changesAddedPaths((path) => path.toLowerCase()),
  ),
  proxied(
    'pack-writes-no-blanks-in-paths',
    'pack.file.op.upsert-add#blanks',
    'replaces blanks in a path by underscores',
    changesAddedPaths((path) => path.replaceAll(' ', '_')),
  ),
  proxied(
    'pack-drops-dots-before-names',
    'pack.file.op.upsert-add#dots',
    'drops the dot at the beginning of a name',
    changesAddedPaths((path) => path.replaceAll(/\/\.(?=\w)/g, '/')),
  ),
  proxied(
    'pack-decodes-paths',
    'pack.file.op.upsert-add#url-characters',
    'decodes paths as if they were part of a URL',
    changesAddedPaths((path) => path.replaceAll('%25', '%')),
  ),
  proxied(
    'pack-limits-the-depth-of-folders',
    'pack.file.op.upsert-add#deep',
    'writes a file into at most ten nested folders',
    changesAddedPaths((path) => path.split('/').slice(0, 10).join('/')),
  ),
  patched(
    'pack-compares-sizes-only',
    'pack.file.op.upsert-replace#same-size',
    'keeps a file if the new content has the same size',
    {
      file: 'api/operations/commit-pack.js',
      find: 'const oid = await runYielding(objects.writeSteps(BLOB, edit.content), meter);',
      replace: `let oid = await runYielding(objects.writeSteps(BLOB, edit.content), meter);
      const { findEntry } = await import('../../git/object/read-tree.js');
      const old = await runYielding(findEntry(objects, base, edit.path), meter);
      const sizeOf = (id) => objects.sizeOf(objects.find(id));
      if (old !== undefined && sizeOf(old.oid) === sizeOf(oid)) oid = old.oid;`,
    },
  ),
  patched(
    'pack-replaces-the-first-file',
    'pack.file.op.upsert-replace#each-file',
    'replaces only the first of several files that exist',
    {
      file: 'api/operations/commit-pack.js',
      find: 'const treeEdits = [];',
      replace: `const { findEntry } = await import('../../git/object/read-tree.js');
      const isThere = [];
      for (const edit of edits) {
        const old = await runYielding(findEntry(objects, base, edit.path), meter);
        if (old === undefined || edit.delete || isThere.push(edit) === 1) continue;
        edits = edits.filter((other) => other !== edit);
      }
      const treeEdits = [];`,
    },
  ),
  patched(
    'pack-deletes-by-prefix',
    'pack.file.op.delete#prefix',
    'deletes every file whose path begins with the given path',
    deletesAlso('path.startsWith(deleted)'),
  ),
  patched(
    'pack-deletes-by-name',
    'pack.file.op.delete#namesake',
    'deletes the files with the given name in every folder',
    deletesAlso("path.split('/').at(-1) === deleted.split('/').at(-1)"),
  ),
  patched(
    'pack-deletes-the-folder',
    'pack.file.op.delete#folder',
    'deletes the folder of the given file',
    deletesAlso("path.includes('/') && path.startsWith(deleted.replace(/[^/]*$/, ''))"),
  ),
  patched('pack-deletes-the-first-file', 'pack.file.op.delete#each-file', 'deletes only the first of several files', {
    file: 'api/operations/commit-pack.js',
    find: 'const treeEdits = [];',
    replace: `const first = edits.find((edit) => edit.delete);
      edits = edits.filter((edit) => !edit.delete || edit === first);
      const treeEdits = [];`,
  }),
  patched(
    'pack-only-deletes-where-it-deletes',
    'pack.file.op.delete#beside-upsert',
    'writes no file if the request also deletes one',
    {
      file: 'api/operations/commit-pack.js',
      find: 'const treeEdits = [];',
      replace: `if (edits.some((edit) => edit.delete)) edits = edits.filter((edit) => edit.delete);
        const treeEdits = [];`,
    },
  ),
  patched(
    'pack-keeps-the-mode-of-the-same-content',
    'pack.file.mode.100755#set-alone',
    'does not change the mode of a file whose content stays the same',
    {
      file: 'git/object/tree-edit.js',
      find: 'entry?.mode === mode && entry.oid === upsert.oid',
      replace: 'entry?.oid === upsert.oid',
    },
  ),
  patched(
    'pack-never-takes-the-executable-bit-away',
    'pack.file.mode.100755#set-back',
    'does not make a regular file of an executable one',
    {
      file: 'git/object/tree-edit.js',
      find: 'const mode = upsert.mode ?? kept ?? MODE_FILE;',
      replace: 'const mode = kept === 0o100755 ? kept : (upsert.mode ?? kept ?? MODE_FILE);',
    },
  ),
  proxied(
    'pack-passes-over-a-later-file-without-path',
    'pack.file.path.required#one-of-several',
    'passes over operations without path after the first',
    dropsLater((file) => file.path === undefined),
  ),
  proxied(
    'pack-passes-over-a-later-unknown-operation',
    'pack.file.op.unknown#one-of-several',
    'passes over unknown operations after the first',
    dropsLater(({ operation = 'upsert' }) => !['upsert', 'delete'].includes(operation)),
  ),
  proxied(
    'pack-passes-over-a-later-file-without-content-id',
    'pack.file.content_id.required#one-of-several',
    'passes over files without content_id after the first',
    dropsLater((file) => file.content_id === undefined),
  ),
  proxied(
    'pack-keeps-the-slash-of-a-deletion',
    'pack.file.path.leading-slash#delete',
    'looks for the path of a deletion with its leading slash, and finds nothing to delete',
    changesFiles((file) => {
      if (file.operation === 'delete') file.path = file.path?.replace(/^\//, 'no/such/');
    }),
  ),
  proxied(
    'filemeta-shows-null-for-an-empty-tree',
    'pack.file.op.delete#last',
    'shows null as files in file metadata if the last file was deleted',
    changesJson<{ files: unknown[] | null }>(
      META,
      (body) => {
        if (body.files?.length === 0) body.files = null;
      },
      200,
    ),
  ),
];
