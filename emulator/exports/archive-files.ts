import { textOf } from '../git/object/bytes.js';
import { type FileTree, SourceError } from '../sources/file-tree.js';
import type { MemoryTree } from '../sources/memory-tree.js';
import { MANIFEST } from '../sources/open-source.js';
import { readManifest } from './read-state.js';
import type { TarEntry } from './tar.js';
import type { StateFile } from './write-state.js';

/** The files of an archive that was read, for a folder: the manifest last. Throws `SourceError` where it is no export. */
export async function* filesOfArchive(tree: MemoryTree): AsyncGenerator<StateFile> {
  await readManifest(tree);
  let manifest: StateFile | undefined;
  for await (const { path, size, content } of entriesOf(tree)) {
    const file: StateFile = { path, size, kind: kindOf(path), content: content as StateFile['content'] };
    if (file.kind === 'manifest') manifest = file;
    else yield file;
  }
  if (manifest) yield manifest;
}

function kindOf(path: string): StateFile['kind'] {
  if (path === MANIFEST) return 'manifest';
  if (path.endsWith('/')) return 'folder';
  return /\.git\/(?:HEAD|config|packed-refs)$/.test(path) ? 'git' : 'content';
}

/** Every file and folder of a tree, for an archive. Throws `SourceError` for links and the like. */
export async function* entriesOf(tree: FileTree): AsyncGenerator<TarEntry> {
  const waiting = [''];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const { name, kind, size } of await tree.list(folder as never)) {
      const path = folder === '' ? textOf(name) : `${folder}/${textOf(name)}`;
      if (folder === '' && (name.startsWith('lock') || name.endsWith('.new'))) continue;
      if (kind === 'folder') {
        waiting.push(path);
        yield { path: `${path}/`, size: 0, content: async function* () {} };
      } else if (kind === 'file') yield { path, size, content: () => tree.read(path as never) };
      else
        throw new SourceError(
          `${tree.title} has something that is neither file nor folder, which is not followed: ${path}.`,
        );
    }
  }
}
