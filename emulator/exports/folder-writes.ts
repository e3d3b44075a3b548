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

/** Suffix of a draft, which is an incomplete file. */
export const DRAFT = '.new';
export const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/**
 * Number of bytes written asynchronously at once. Fewer bytes are written synchronously, because a turn of the event
 * loop can take 10 ms under load.
 */
const BATCH = 1024 * 1024;
/** Cost of creating a file, in units of work. */
const FILE_UNITS = 100;

const writev = promisify(writevLater);

/**
 * Writes the files of one save to the page cache. A killed process loses none of them, and waiting for the disk would
 * take longer than a save may take. Paths are relative to `root`.
 */
export class FolderWrites {
  readonly #added: string[] = [];

  /**
   * `folders`: folders known to exist and not to be links; updated. `isKept`: returns true if the last complete save
   * contains the file.
   */
  constructor(
    private readonly root: string,
    private readonly folders: Set<string>,
    private readonly isKept: (path: string) => boolean,
    private readonly meter: Meter,
  ) {}

  /**
   * Writes a file whose name contains its content hash. Skips a file of the last complete save, and replaces one left
   * by an interrupted save.
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
   * Writes a new file and syncs it, so that a power loss does not damage it. `told`: called with the number of bytes
   * written.
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

  /** Opens a new file. */
  open(path: string): OpenFile {
    this.meter.spend(FILE_UNITS);
    const target = join(this.root, path);
    this.#added.push(target);
    return new OpenFile(this.#create(target));
  }

  /** Renames a draft to the name derived from its content. */
  rename(draft: string, path: string): void {
    const target = join(this.root, path);
    if (this.isKept(path)) removeFile(join(this.root, draft));
    else {
      renameSync(join(this.root, draft), target);
      this.#added.push(target);
    }
  }

  /** Replaces a file atomically. */
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

  /** Overwrites a file that no other file depends on. */
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

  /** Makes the written files permanent, so that `undo` does not remove them. */
  keep(): void {
    this.#added.length = 0;
  }

  /** Removes the files written since the last `keep`, to free space on a full disk. */
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
          // Another program has removed a folder.
          if (attempt > 0) this.folders.clear();
          this.#make(dirname(path));
        } else throw error;
      }
    }
  }

  /** Creates the folders of a path below the root. None of them may be a link. */
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

/** File that is written sequentially. */
export class OpenFile {
  #waiting: Buffer[] = [];
  #bytes = 0;

  constructor(private readonly descriptor: number) {}

  /** Writes bytes. Returns a promise if the caller must wait. */
  write(piece: Buffer): void | Promise<void> {
    this.#waiting.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes >= BATCH) return this.#flush();
  }

  writeNow(content: Buffer): void {
    this.#waiting.push(content);
    this.#flushNow();
  }

  /** Writes buffered bytes and syncs the file to disk. */
  sync(): void {
    this.#flushNow();
    fsyncSync(this.descriptor);
  }

  /** Writes buffered bytes and closes the file. */
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

/** Returns the rest of the pieces after `written` bytes. */
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
    // The file is already gone, or is removed when the folder is opened again.
  }
}
