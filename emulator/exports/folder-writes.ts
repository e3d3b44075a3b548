import {
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  unlinkSync,
  writev as writevLater,
  writevSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Meter } from '../schedule/meter.js';

/** File name suffix of a draft: an incomplete file that is renamed when it is complete. */
export const DRAFT = '.new';
export const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/**
 * Number of buffered bytes from which a file is written asynchronously. Fewer bytes are written synchronously, because
 * a turn of the event loop can take 10 ms under load.
 */
const BATCH = 1024 * 1024;
/** Cost of creating a file, in the meter's units of work. The meter says when to yield to the event loop. */
const FILE_UNITS = 100;

const writev = promisify(writevLater);

/**
 * Writes the files of one save of the emulator's state. All paths are relative to `root`. `add` and `replace` write
 * only to the page cache of the operating system: a killed process loses nothing, and waiting for the disk would take
 * longer than a save may take.
 */
export class FolderWrites {
  readonly #added: string[] = [];

  /**
   * - `folders`: absolute paths of folders that are known to exist and not to be symbolic links; created folders are
   *   added
   * - `isKept`: returns true if the last complete save contains the file
   * - `meter`: counts the work and says when to yield
   */
  constructor(
    private readonly root: string,
    private readonly folders: Set<string>,
    private readonly isKept: (path: string) => boolean,
    private readonly meter: Meter,
  ) {}

  /**
   * Writes a file whose name contains the hash of its content. Does nothing if the last complete save contains the
   * file. Replaces a file that an interrupted save has left under this name, because it may be incomplete.
   */
  async add(path: string, pieces: readonly Buffer[]): Promise<void> {
    if (this.isKept(path)) return;
    const file = this.open(path);
    try {
      for (const piece of pieces) await file.write(piece);
    } finally {
      file.close();
    }
    if (this.meter.shouldYield) await this.meter.yieldToEventLoop();
  }

  /**
   * Writes a new file and waits until it is on disk, so that a power loss cannot damage it. `onWritten` is called with
   * the length of each piece in bytes.
   */
  async write(path: string, pieces: AsyncIterable<Uint8Array>, onWritten?: (bytes: number) => void): Promise<void> {
    const file = this.open(path);
    try {
      for await (const piece of pieces) {
        await file.write(Buffer.from(piece.buffer, piece.byteOffset, piece.length));
        onWritten?.(piece.length);
      }
      file.sync();
    } finally {
      file.close();
    }
  }

  /** Creates a file and opens it for writing. A later `undo` removes the file. */
  open(path: string): OpenFile {
    this.meter.spend(FILE_UNITS);
    const target = join(this.root, path);
    this.#added.push(target);
    return new OpenFile(this.#create(target));
  }

  /**
   * Renames a draft (incomplete file) to its final name, which is derived from its content. Removes the draft instead
   * if the last complete save already contains this file.
   */
  rename(draft: string, path: string): void {
    const target = join(this.root, path);
    if (this.isKept(path)) removeFile(join(this.root, draft));
    else {
      renameSync(join(this.root, draft), target);
      this.#added.push(target);
    }
  }

  /**
   * Replaces a file atomically. Writes a draft and renames it, so that readers find either the old or the new content.
   */
  replace(path: string, content: Buffer): void {
    const draft = path + DRAFT;
    const file = this.open(draft);
    try {
      file.writeNow(content);
    } finally {
      file.close();
    }
    renameSync(join(this.root, draft), join(this.root, path));
  }

  /**
   * Overwrites a file in place, which is not atomic. Only for files outside of the saved state, such as those that only
   * Git reads.
   */
  overwrite(path: string, content: Buffer): void {
    this.meter.spend(FILE_UNITS);
    const { O_CREAT, O_NOFOLLOW = 0, O_TRUNC, O_WRONLY } = constants;
    const file = new OpenFile(this.#create(join(this.root, path), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW));
    try {
      file.writeNow(content);
    } finally {
      file.close();
    }
  }

  makeFolder(path: string): void {
    this.#make(join(this.root, path));
  }

  /** Makes all files written so far permanent, so that `undo` keeps them. Called after a complete save. */
  keep(): void {
    this.#added.length = 0;
  }

  /**
   * Removes the files written since the last call of `keep`. Called when a save fails, to free space on a full disk.
   */
  undo(): void {
    for (const path of this.#added) removeFile(path);
    this.keep();
  }

  #create(path: string, flags: string | number = 'wx'): number {
    for (let attempt = 0; ; attempt++) {
      try {
        return openSync(path, flags, FILE_MODE);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (attempt > 1) throw error;
        if (code === 'EEXIST') unlinkSync(path);
        else if (code === 'ENOENT') {
          // Creates the missing parent folder: it is new, or another program has removed it. After a failed attempt,
          // `folders` must be wrong, so it is cleared.
          if (attempt > 0) this.folders.clear();
          this.#make(dirname(path));
        } else throw error;
      }
    }
  }

  /**
   * Creates a folder below `root`, including its parents. Throws if one of them exists but is not a folder, for example
   * a symbolic link.
   */
  #make(path: string): void {
    if (path === this.root || this.folders.has(path)) return;
    this.#make(dirname(path));
    try {
      mkdirSync(path, { mode: FOLDER_MODE });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !lstatSync(path).isDirectory()) throw error;
    }
    this.folders.add(path);
  }
}

/** Open file that is written from beginning to end. Buffers up to `BATCH` bytes. */
export class OpenFile {
  #waiting: Buffer[] = [];
  #bytes = 0;

  constructor(private readonly descriptor: number) {}

  /**
   * Buffers bytes, and writes the buffer when it is full. If a promise is returned, the caller must await it before the
   * next call.
   */
  write(piece: Buffer): void | Promise<void> {
    this.#waiting.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes >= BATCH) return this.#flush();
  }

  writeNow(content: Buffer): void {
    this.#waiting.push(content);
    this.#flushNow();
  }

  /** Writes the buffered bytes and waits until the whole file is on disk. */
  sync(): void {
    this.#flushNow();
    fsyncSync(this.descriptor);
  }

  /** Writes the buffered bytes and closes the file. */
  close(): void {
    try {
      this.#flushNow();
    } finally {
      closeSync(this.descriptor);
    }
  }

  async #flush(): Promise<void> {
    for (let left = this.#take(); left.length > 0; )
      left = after(left, (await writev(this.descriptor, left)).bytesWritten);
  }

  #flushNow(): void {
    for (let left = this.#take(); left.length > 0; ) left = after(left, writevSync(this.descriptor, left));
  }

  #take(): Buffer[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#bytes = 0;
    return waiting.filter(({ length }) => length > 0);
  }
}

/** Returns the rest of `pieces` after the first `written` bytes. */
function after(pieces: readonly Buffer[], written: number): Buffer[] {
  let left = written;
  for (const [at, piece] of pieces.entries()) {
    if (left < piece.length) return [piece.subarray(left), ...pieces.slice(at + 1)];
    left -= piece.length;
  }
  return [];
}

export function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Ignores the error. Either the file does not exist, or nothing refers to it, and it is removed when the folder is
    // opened again.
  }
}
