import { type ByteString, bytesIn, sliceBytes } from '../git/object/bytes.js';
import { isOid, type Oid } from '../git/object/object.js';
import { isRefName } from '../git/refs/ref-name.js';
import { type FileTree, readSmall, SourceError } from './file-tree.js';
import { type HistorySource, isTaken, type SourceRef } from './history-source.js';

/**
 * Maximum size in bytes of small text files such as `HEAD` and `config` (`MAX_TEXT`), and of `packed-refs`
 * (`MAX_REFS`).
 */
const MAX_TEXT = 1024 * 1024;
const MAX_REFS = 256 * 1024 * 1024;

/**
 * Returns true if Git accepts the folder at the path `at` as a repository (`is_git_directory`): it has `HEAD`,
 * `objects`, and refs.
 */
export async function isGitDirectory(tree: FileTree, at: ByteString): Promise<boolean> {
  const kindOf = async (name: string) => (await tree.stat(inside(at, name)))?.kind;
  if ((await kindOf('HEAD')) === undefined || (await kindOf('objects')) === undefined) return false;
  return (await kindOf('refs')) !== undefined || (await kindOf('packed-refs')) !== undefined;
}

/**
 * Opens a repository in the layout in which Git stores it (gitrepository-layout): refs in files and in `packed-refs`,
 * objects in packs and loose files. Throws `SourceError` for symbolic links, and if the repository depends on files
 * outside of its folder. `at`: path of the folder in the tree. `maxBytes`: maximum size of a deflated loose object, in
 * bytes.
 */
export async function openGitDirectory(tree: FileTree, at: ByteString, maxBytes: number): Promise<HistorySource> {
  const { title } = tree;
  await refuseForeign(tree, at);
  const head = await readHead(tree, at);
  const refs = (await readRefs(tree, at)).filter(({ name }) => isTaken(name));
  return {
    title,
    head,
    refs,
    async *packs() {
      const folder = inside(at, 'objects/pack');
      if ((await tree.stat(folder))?.kind !== 'folder') return;
      for (const { name, kind } of await tree.list(folder)) {
        if (!/^pack-[0-9a-f]+\.pack$/.test(name)) continue;
        if (kind !== 'file') throw linkRefusal(title, `${folder}/${name}`);
        yield tree.read(inside(folder, name));
      }
    },
    async *looseObjects() {
      const objects = inside(at, 'objects');
      for (const { name: first, kind } of await tree.list(objects)) {
        if (!/^[0-9a-f]{2}$/.test(first)) continue;
        if (kind !== 'folder') throw linkRefusal(title, `${objects}/${first}`);
        for (const { name: rest } of await tree.list(inside(objects, first))) {
          if (!/^[0-9a-f]{38}$/.test(rest)) continue;
          const path = inside(inside(objects, first), rest);
          yield { oid: first + rest, deflated: (await readSmall(tree, path, maxBytes))! };
        }
      }
    },
  };
}

function inside(folder: ByteString, name: string): ByteString {
  return (folder === '' ? name : `${folder}/${name}`) as ByteString;
}

function linkRefusal(title: string, path: string): SourceError {
  return new SourceError(`${title} contains ${path}, which is neither a file nor a folder; links are not followed.`);
}

/**
 * Throws `SourceError` for a repository that depends on other folders (work tree, alternates), is shallow, or has an
 * unsupported format.
 */
async function refuseForeign(tree: FileTree, at: ByteString): Promise<void> {
  const { title } = tree;
  for (const name of ['HEAD', 'config', 'objects', 'refs', 'packed-refs', 'objects/info', 'objects/pack']) {
    const entry = await tree.stat(inside(at, name));
    if (entry?.kind === 'link' || entry?.kind === 'other') throw linkRefusal(title, inside(at, name));
  }
  const has = async (name: string) =>
    ((await readSmall(tree, inside(at, name), MAX_TEXT)) ?? '').toString().trim() !== '';
  if (await has('commondir'))
    throw new SourceError(`${title} is a linked work tree. Pass the path of its main repository.`);
  if (await has('objects/info/alternates'))
    throw new SourceError(
      `${title} uses objects of another repository. Run git repack -a -d -f in it, and remove objects/info/alternates.`,
    );
  if (await has('shallow'))
    throw new SourceError(`${title} is a shallow clone, which lacks history. Run git fetch --unshallow in it.`);
  const config = ((await readSmall(tree, inside(at, 'config'), MAX_TEXT)) ?? '').toString('latin1');
  if (/^\s*objectformat\s*=\s*"?sha256/im.test(config))
    throw new SourceError(`${title} is a SHA-256 repository, but only SHA-1 is supported.`);
  if (/^\s*refstorage\s*=\s*"?reftable/im.test(config))
    throw new SourceError(
      `${title} stores its refs as reftables, which are not supported. Run git refs migrate --ref-format=files in it.`,
    );
}

async function readHead(tree: FileTree, at: ByteString): Promise<HistorySource['head']> {
  const text = bytesIn((await readSmall(tree, inside(at, 'HEAD'), MAX_TEXT)) ?? Buffer.alloc(0)).trim();
  if (isOid(text)) return { oid: text };
  const symref = /^ref:\s*(.*)$/.exec(text)?.[1] as ByteString | undefined;
  if (symref !== undefined && isRefName(symref)) return { symref };
  throw new SourceError(`HEAD of ${tree.title} is neither a ref nor a commit.`);
}

async function readRefs(tree: FileTree, at: ByteString): Promise<SourceRef[]> {
  const found = new Map<ByteString, Oid>();
  const packed = await readSmall(tree, inside(at, 'packed-refs'), MAX_REFS);
  for (const line of bytesIn(packed ?? Buffer.alloc(0)).split('\n')) {
    // Two kinds of lines are skipped: the header `# pack-refs with: …`, and the peeled value of an annotated tag,
    // `^<oid>`.
    if (line === '' || line[0] === '#' || line[0] === '^') continue;
    const oid = line.slice(0, 40);
    const name = line.slice(41).replace(/\r$/, '') as ByteString;
    if (!isOid(oid) || line[40] !== ' ' || !isRefName(name))
      throw new SourceError(`${tree.title} has a line in packed-refs that is not an object id and a ref name.`);
    found.set(name, oid);
  }
  const links = new Map<ByteString, ByteString>();
  const root = inside(at, 'refs');
  if ((await tree.stat(root)) !== undefined) await readLooseRefs(tree, at, root, found, links);
  for (const [name, target] of links) {
    const oid = found.get(target);
    if (oid !== undefined) found.set(name, oid);
  }
  return [...found].map(([name, oid]) => ({ name, oid }));
}

async function readLooseRefs(
  tree: FileTree,
  at: ByteString,
  root: ByteString,
  found: Map<ByteString, Oid>,
  links: Map<ByteString, ByteString>,
): Promise<void> {
  const waiting = [root];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const { name, kind } of await tree.list(folder)) {
      const path = inside(folder, name);
      if (kind === 'folder') waiting.push(path);
      else if (kind !== 'file') throw linkRefusal(tree.title, path);
      else {
        const ref = sliceBytes(path, at === '' ? 0 : at.length + 1);
        // A file whose path is not a ref name is skipped, because it is a lock file or belongs to another program.
        if (!isRefName(ref)) continue;
        const text = bytesIn((await readSmall(tree, path, MAX_TEXT))!).trim();
        const target = /^ref:\s*(.*)$/.exec(text)?.[1];
        if (target !== undefined) links.set(ref, target as ByteString);
        else if (isOid(text)) found.set(ref, text);
        else throw new SourceError(`${tree.title} has a ref without a valid object id: ${ref}.`);
      }
    }
  }
}
