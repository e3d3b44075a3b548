import { type ByteString, bytesOf, concatBytes, NO_BYTES, sliceBytes } from '../../object/bytes.js';
import { BLOB, type Oid, TREE } from '../../object/object.js';
import { MODE_EXECUTABLE, MODE_FILE, MODE_GITLINK, MODE_SYMLINK, MODE_TREE, writeTree } from '../../object/tree.js';
import type { MemoryObjects } from '../../test/memory-objects.js';
import { oid } from '../../test/oid.js';
import type { RandomText } from './random-text.js';

interface File {
  readonly mode: number;
  readonly content: string;
}

const MOVED = bytesOf('moved/');
const NAMES = ['a', 'b.c', 'index.ts', 'read me', 'caf\u00e9', 'ta\tb', 'quo"te', 'x-y', 'zz'].map(bytesOf);
const FOLDERS = [NO_BYTES, NO_BYTES, ...['lib/', 'lib/deep er/', 'src/'].map(bytesOf)];
const ENDS = [NO_BYTES, NO_BYTES, ...['1', '2'].map(bytesOf)];

/**
 * Random working tree that changes at random. It contains symbolic links, submodules, binary files and unusual names.
 */
export class RandomTree {
  readonly files = new Map<ByteString, File>();

  constructor(private readonly random: RandomText) {
    for (let count = 0; count < 12; count++) this.#add();
  }

  change(): void {
    for (let count = 1 + this.random.below(6); count > 0; count--) this.#changeOnce();
  }

  write(objects: MemoryObjects): Oid {
    return writeFolder(objects, [...this.files]);
  }

  #changeOnce(): void {
    const { random, files } = this;
    const path = random.pick([...files.keys()]);
    const file = files.get(path);
    const kind = file ? random.below(10) : 0;
    if (!file || kind === 0) this.#add();
    else if (kind === 1) files.delete(path);
    else if (kind === 2 || kind === 3) this.#rename(path, file);
    else if (kind === 5) files.set(path, this.#file());
    else if (!isRegular(file)) files.set(path, { ...file, content: '4'.repeat(40) });
    else if (kind > 5) files.set(path, { ...file, content: this.#edited(file.content) });
    else files.set(path, { ...file, mode: file.mode === MODE_FILE ? MODE_EXECUTABLE : MODE_FILE });
  }

  #rename(path: ByteString, file: File): void {
    this.files.delete(path);
    const content = isRegular(file) && this.random.below(2) === 0 ? this.#edited(file.content) : file.content;
    const target =
      this.random.below(2) === 0 ? this.#path() : concatBytes(MOVED, sliceBytes(path, path.lastIndexOf('/') + 1));
    if (this.#isFree(target)) this.files.set(target, { ...file, content });
  }

  #edited(content: string): string {
    if (content.includes('\0')) return content.slice(this.random.below(20)) + this.random.binary().slice(0, 50);
    return this.random.file(this.random.edit(content.replace(/\n$/, '').split('\n')));
  }

  #add(): void {
    const path = this.#path();
    if (this.#isFree(path)) this.files.set(path, this.#file());
  }

  #file(): File {
    const { random } = this;
    const kind = random.below(12);
    if (kind === 0) return { mode: MODE_SYMLINK, content: `target ${random.below(9)}` };
    if (kind === 1) return { mode: MODE_GITLINK, content: String(random.below(9)).repeat(40) };
    if (kind === 2) return { mode: MODE_FILE, content: `\0${random.binary()}` };
    if (kind === 3) return { mode: MODE_FILE, content: '' };
    return { mode: random.pick([MODE_FILE, MODE_EXECUTABLE]), content: random.file(random.lines()) };
  }

  #path(): ByteString {
    const { random } = this;
    return concatBytes(random.pick(FOLDERS), random.pick(NAMES), random.pick(ENDS));
  }

  #isFree(path: ByteString): boolean {
    return ![...this.files.keys()].some(
      (other) => other === path || other.startsWith(`${path}/`) || path.startsWith(`${other}/`),
    );
  }
}

function isRegular(file: File): boolean {
  return file.mode === MODE_FILE || file.mode === MODE_EXECUTABLE;
}

function writeFolder(objects: MemoryObjects, files: readonly (readonly [ByteString, File])[]): Oid {
  const folders = new Map<ByteString, (readonly [ByteString, File])[]>();
  const entries = [];
  for (const [path, file] of files) {
    const slash = path.indexOf('/');
    if (slash < 0) {
      const id =
        file.mode === MODE_GITLINK ? oid(file.content) : objects.write(BLOB, Buffer.from(file.content, 'latin1'));
      entries.push({ name: path, mode: file.mode, oid: id });
    } else {
      const name = sliceBytes(path, 0, slash);
      folders.set(name, [...(folders.get(name) ?? []), [sliceBytes(path, slash + 1), file]]);
    }
  }
  for (const [name, content] of folders) entries.push({ name, mode: MODE_TREE, oid: writeFolder(objects, content) });
  return objects.write(TREE, writeTree(entries));
}
