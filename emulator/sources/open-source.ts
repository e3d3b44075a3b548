import { lstat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bytesOf, NO_BYTES } from '../git/object/bytes.js';
import { openBundle } from './bundle.js';
import { DiskTree, saying } from './disk-tree.js';
import { type FileTree, SourceError } from './file-tree.js';
import { type FileMap, type FilesSource, filesOfMap, filesOfTree } from './folder.js';
import { isGitDirectory, openGitDirectory } from './git-directory.js';
import type { HistorySource } from './history-source.js';

/**
 * Source from which a user fills a repository: a path, a clone URL, the bytes of a bundle, or file contents by path.
 */
export type GivenSource = string | URL | Uint8Array | FileMap;

export interface SourceOptions {
  /** Maximum size of an imported object in bytes. */
  readonly objectBytes: number;
  /** Maximum time without any data from the host of a URL, in milliseconds of real time. */
  readonly timeout: number;
}

/** Name of the file that identifies a folder as the saved state of an emulator. */
export const MANIFEST = 'emulator.json';

/**
 * Detects the kind of a source (URL, bundle, repository or files) and opens it. Throws `SourceError`, and errors that
 * `describeFailure` converts.
 */
export async function openSource(given: GivenSource, options: SourceOptions): Promise<HistorySource | FilesSource> {
  const url = urlOf(given);
  if (url?.protocol === 'file:') return openPath(fileURLToPath(url), options);
  if (url) {
    if (!/^https?:$/.test(url.protocol))
      throw new SourceError(`Cloning from ${url.protocol}// is not supported. Use an http or https URL.`);
    const { openClone } = await import('./clone.js');
    return openClone(url, options);
  }
  if (typeof given === 'string') return openPath(given, options);
  if (given instanceof Uint8Array) {
    const bytes = Buffer.from(given);
    const read = async function* () {
      yield bytes;
    };
    return openBundle('The bundle', read);
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new SourceError(
      'A source must be a path, a URL, the bytes of a bundle, another repository, or an object with file contents by path.',
    );
  }
  return filesOfMap(given as FileMap);
}

function urlOf(given: GivenSource): URL | undefined {
  if (given instanceof URL) return given;
  if (typeof given !== 'string') return undefined;
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(given)) {
    if (!URL.canParse(given)) throw new SourceError(`${JSON.stringify(given)} is not a valid URL.`);
    return new URL(given);
  }
  return undefined;
}

async function openPath(path: string, options: SourceOptions): Promise<HistorySource | FilesSource> {
  const kind = await kindOf(path);
  const tree = new DiskTree(path);
  if (kind === 'file') return openBundle(path, () => tree.read(NO_BYTES));
  if (await tree.stat(bytesOf(MANIFEST)).then(async (found) => found?.kind === 'file' && (await isState(tree)))) {
    throw new SourceError(
      `${path} is an export of an emulator, not a repository. Read it with emulator import or emulator start --import.`,
    );
  }
  return openTree(tree, options);
}

async function isState(tree: FileTree): Promise<boolean> {
  for await (const piece of tree.read(bytesOf(MANIFEST)))
    return /^\s*\{\s*"format":\s*"repohost-emulator"/.test(piece.toString());
  return false;
}

/** Opens a folder that is to be imported: a bare repository, a work tree with its repository, or plain files. */
async function openTree(tree: DiskTree, { objectBytes }: SourceOptions): Promise<HistorySource | FilesSource> {
  const dotGit = await tree.stat(bytesOf('.git'));
  if (dotGit?.kind === 'folder' && (await isGitDirectory(tree, bytesOf('.git')))) {
    return openGitDirectory(tree, bytesOf('.git'), objectBytes);
  }
  if (dotGit?.kind === 'file' || dotGit?.kind === 'link') {
    throw new SourceError(`${tree.title} is a linked work tree or a submodule. Pass the path of its main repository.`);
  }
  if (await isGitDirectory(tree, NO_BYTES)) return openGitDirectory(tree, NO_BYTES, objectBytes);
  return filesOfTree(tree);
}

/**
 * Returns the kind of the file system entry at a path. Throws `SourceError` if it does not exist, or is neither a file
 * nor a folder.
 */
export async function kindOf(path: string): Promise<'file' | 'folder'> {
  const found = await saying(path, lstat(path));
  if (found.isSymbolicLink())
    throw new SourceError(`${path} is a symbolic link, which is not followed. Pass the path of its target.`);
  if (found.isDirectory()) return 'folder';
  if (found.isFile()) return 'file';
  throw new SourceError(`${path} is neither a file nor a folder.`);
}
