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

/** Suffix of a draft: a file that is not complete yet. */
export const DRAFT = '.new';
export const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** Bytes that are written at once. Fewer are written without a turn of the event loop, which can take 10 ms under load. */
const BATCH = 1024 * 1024;
/** Cost of creating a file, in units of work. */
const FILE_UNITS = 100;

const writev = promisify(writevLater);

/**
 * The files of one save, written to the page cache: a kill of the process loses nothing of that, and to wait for the disk
 * would take longer than a save may take. Paths are below `root`.
 */
export class FolderWrites {
  readonly #added: string[] = [];

  /** `folders`: those known to exist and to be no links; updated. `isKept`: whether the last save that was complete has a file. */
  constructor(
    private readonly root: string,
    private readonly folders: Set<string>,
    private readonly isKept: (path: string) => boolean,
    private readonly meter: Meter,
  ) {}

  /**
   * Writes a file that is named by its content. Skips a file of the last complete save; replaces one that an interrupted save
   * left.
   */
  async add(path: string, pieces: readonly Buffer[]): Promise<void> {
    if (this.isKept(path)) return;
    const file = this.open(path);
    try {
      for (const piece of pieces) await file.write(piece);
    } finally {
      file.close();
    }
    if (this.meter.isOver) await this.meter.pass();
  }

  /** Writes a new file that a loss of power does not damage; `told` of its bytes. */
  async write(path: string, pieces: AsyncIterable<Uint8Array>, told?: (bytes: number) => void): Promise<void> {
    const file = this.open(path);
    try {
      for await (const piece of pieces) {
        await file.write(Buffer.from(piece.buffer, piece.byteOffset, piece.length));
        told?.(piece.length);
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

  /** Renames a draft to the name that its content gives. */
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

  /** Writes a file over the one that is there, which nothing depends on. */
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

  /** Keeps what was written. */
  keep(): void {
    this.#added.length = 0;
  }

  /** Removes what was written since the last `keep`, so that a full disk has room again. */
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
          // Someone else has removed a folder.
          if (attempt > 0) this.folders.clear();
          this.#make(dirname(path));
        } else throw error;
      }
    }
  }

  /** Makes the folders of a path below the root, none of which may be a link. */
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

/** A file that is written to its end. */
export class OpenFile {
  #waiting: Buffer[] = [];
  #bytes = 0;

  constructor(private readonly descriptor: number) {}

  /** A promise means that the caller has to wait. */
  write(piece: Buffer): void | Promise<void> {
    this.#waiting.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes >= BATCH) return this.#flush();
  }

  writeNow(content: Buffer): void {
    this.#waiting.push(content);
    this.#flushNow();
  }

  /** Writes what waits, to the disk itself. */
  sync(): void {
    this.#flushNow();
    fsyncSync(this.descriptor);
  }

  /** Writes what waits, and closes the file. */
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

/** What is left of the pieces behind `written` bytes. */
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
    // It is gone, or is removed when the folder is opened the next time.
  }
}
