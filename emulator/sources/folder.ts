import { type ByteString, bytesOf, NO_BYTES, textOf } from '../git/object/bytes.js';
import { hidesDotName } from '../git/object/dot-names.js';
import { BLOB, EMPTY_TREE_OID, TREE } from '../git/object/object.js';
import { describePathIssue, pathIssue } from '../git/object/path.js';
import { MODE_EXECUTABLE, MODE_FILE, MODE_SYMLINK } from '../git/object/tree.js';
import { applyEdits, EditConflict, type TreeEdit } from '../git/object/tree-edit.js';
import type { Quarantine } from '../git/odb/quarantine.js';
import { ObjectTooLarge } from '../git/pack/pack-error.js';
import type { Meter } from '../schedule/meter.js';
import { runYielding } from '../schedule/steps.js';
import { type FileTree, SourceError } from './file-tree.js';

/** File contents by path, from which a repository can be filled. */
export type FileMap = Readonly<Record<string, string | Uint8Array>>;

/** Source of files without history, from which one commit is made. */
export interface FilesSource {
  readonly title: string;
  /**
   * Yields the files. `content`: returns the bytes of the file. For a file of more than `max` bytes, it returns at
   * least `max` + 1 bytes, so that the caller detects the excess.
   */
  files(): AsyncIterable<{
    readonly path: ByteString;
    readonly mode: number;
    content(max: number): Promise<Buffer[]>;
  }>;
}

export interface FilesLimits {
  /** Maximum size in bytes of one file (`objectBytes`) and of all files together (`bytes`). */
  readonly objectBytes: number;
  readonly bytes: number;
  readonly files: number;
}

export function filesOfMap(map: FileMap): FilesSource {
  const title = 'The file map';
  return {
    title,
    async *files() {
      for (const [name, content] of Object.entries(map)) {
        if (typeof content !== 'string' && !(content instanceof Uint8Array))
          throw new SourceError(`${title}: the content of ${JSON.stringify(name)} must be a string or bytes.`);
        if (/\p{Surrogate}/u.test(name))
          throw new SourceError(`${title}: the path ${JSON.stringify(name)} is not valid Unicode text.`);
        yield { path: bytesOf(name), mode: MODE_FILE, content: async () => [Buffer.from(content as string)] };
      }
    },
  };
}

/**
 * Returns the files below a folder as a source for one commit. Symbolic links are stored as links, `.git` is omitted,
 * and anything except files, folders and links is refused.
 */
export function filesOfTree(tree: FileTree): FilesSource {
  return {
    title: tree.title,
    async *files() {
      const waiting: ByteString[] = [NO_BYTES];
      for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
        for (const { name, kind, isExecutable } of await tree.list(folder)) {
          const path = (folder === '' ? name : `${folder}/${name}`) as ByteString;
          if (name === '.git') continue;
          if (kind === 'folder') {
            if (hidesDotName(name, 'git')) throw refusedPath(tree.title, path);
            waiting.push(path);
          } else if (kind === 'link')
            yield { path, mode: MODE_SYMLINK, content: async () => [await tree.readLink(path)] };
          else if (kind === 'file') {
            const content = async (max: number) => {
              const pieces: Buffer[] = [];
              let bytes = 0;
              for await (const piece of tree.read(path)) {
                pieces.push(piece);
                bytes += piece.length;
                if (bytes > max) break;
              }
              return pieces;
            };
            yield { path, mode: isExecutable ? MODE_EXECUTABLE : MODE_FILE, content };
          } else
            throw new SourceError(
              `${tree.title} contains ${textOf(path)}, which is neither a file, a folder nor a link.`,
            );
        }
      }
    },
  };
}

function refusedPath(title: string, path: ByteString): SourceError {
  return new SourceError(
    `${title}: the path ${JSON.stringify(textOf(path))} ${describePathIssue(pathIssue(path) ?? 'git-name')}.`,
  );
}

/**
 * Writes the blobs and the tree of the files to a quarantine (objects that are not yet visible). Returns the id of the
 * tree. Throws `SourceError` for paths that Git refuses, and if `limits` are exceeded.
 */
export async function writeFiles(quarantine: Quarantine, source: FilesSource, limits: FilesLimits, meter: Meter) {
  const edits: TreeEdit[] = [];
  let bytes = 0;
  for await (const { path, mode, content } of source.files()) {
    if (pathIssue(path, mode) !== undefined) throw refusedPath(source.title, path);
    if (edits.length === limits.files) throw new SourceError(`${source.title} has more than ${limits.files} files.`);
    const pieces = await content(limits.objectBytes);
    const size = pieces.reduce((sum, { length }) => sum + length, 0);
    bytes += size;
    if (size > limits.objectBytes)
      throw new SourceError(`${source.title} has a file of more than ${limits.objectBytes} bytes: ${textOf(path)}.`);
    if (bytes > limits.bytes) throw new SourceError(`${source.title} has more than ${limits.bytes} bytes.`);
    edits.push({ path, mode, oid: await runYielding(quarantine.writeSteps(BLOB, pieces), meter) });
    if (meter.shouldYield) await meter.yieldToEventLoop();
  }
  try {
    const empty = quarantine.write(TREE, Buffer.alloc(0));
    return edits.length === 0 ? empty : await runYielding(applyEdits(quarantine, EMPTY_TREE_OID, edits), meter);
  } catch (error) {
    if (error instanceof EditConflict) throw new SourceError(`${source.title}: ${error.message}.`);
    if (error instanceof ObjectTooLarge) throw new SourceError(`${source.title}: ${error.message}.`);
    throw error;
  }
}
