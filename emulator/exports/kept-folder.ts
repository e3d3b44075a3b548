import { rmdirSync } from 'node:fs';
import { lstat, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ObjectStore } from '../git/odb/object-store.js';
import type { Refs } from '../git/refs/refs.js';
import type { RepositoryRecord } from '../repositories/repository.js';
import { Meter } from '../schedule/meter.js';
import { Schedule } from '../schedule/schedule.js';
import { runYielding } from '../schedule/steps.js';
import { MANIFEST } from '../sources/open-source.js';
import type { WorldConfig } from '../world/config.js';
import type { Engine } from '../world/engine.js';
import type { WorldSnapshot } from '../world/state.js';
import { FolderWrites, removeFile } from './folder-writes.js';
import { addPack, hashIds, type KeptPack, packFiles, samePacks } from './kept-packs.js';
import { listsIn, splitList, type WrittenList } from './list-files.js';
import { jsonOf } from './read-json.js';
import type { ReadRepositories, ReadRepository } from './read-repositories.js';
import type { ListedRepository } from './schema.js';
import { recordFile, showRecord } from './show-record.js';
import { showWorld } from './show-world.js';
import { prune } from './state-directory.js';
import { gitTexts, lfsPath, listRepository } from './write-state.js';

/**
 * Maximum number of refs with which every save rewrites `packed-refs`, which only Git reads. With more refs, only the
 * last save before the emulator ends writes it: the file contains all refs, so writing it would take too long.
 */
const FEW_REFS = 1000;

/** Long lists that were written to files of their own. The keys are their paths in the JSON value, such as `/refs`. */
type WrittenLists = ReadonlyMap<string, WrittenList>;

/** Repository as stored by the last complete save. */
interface KeptRepository {
  /**
   * Immutable record (the repository's state without its objects) that was written. Undefined if it must be written
   * again.
   */
  readonly record: RepositoryRecord | undefined;
  readonly listed: ListedRepository;
  readonly packs: readonly KeptPack[];
  /** Identifies the world (whole state of the emulator) that assigned the object numbers in `packs`. */
  readonly world: object;
  /** Paths of the record's file and of all files that the record names. */
  readonly files: ReadonlySet<string>;
  readonly lists: WrittenLists | undefined;
}

/**
 * Content of the folder after the last complete save. `repositories` are by id; `lists` are the long lists of
 * `emulator.json`.
 */
interface Kept {
  readonly repositories: ReadonlyMap<string, KeptRepository>;
  readonly lists: WrittenLists | undefined;
}

/**
 * State to save. `world` is a token for the world (whole state of the emulator) that assigned the object numbers. The
 * token does not keep the world in memory.
 */
export interface SavedState {
  readonly snapshot: WorldSnapshot;
  readonly world: object;
  /** True for the last save before the emulator ends. This save also updates all files that only Git reads. */
  readonly isLast?: boolean;
}

export interface KeptFolderPorts {
  readonly folder: string;
  readonly secrets: boolean;
  readonly config: WorldConfig;
  readonly engine: Engine;
}

/**
 * Folder that contains the state of a world (whole state of the emulator). A save writes only what has changed since
 * the previous one.
 *
 * Files are immutable and named after their content hash, except `emulator.json` and the files that only Git reads. A
 * file belongs to the state only if `emulator.json` refers to it, directly or through other files. `emulator.json` is
 * replaced atomically. Therefore a reader always finds the last complete save, even if the process was killed.
 */
export class KeptFolder {
  #kept: Kept = { repositories: new Map(), lists: undefined };
  /** Paths of the files that belong to the last complete save, which `#kept` describes. */
  readonly #files = new Set<string>();
  /** Absolute paths of folders that are known to exist, so that a save need not check them. */
  readonly #folders = new Set<string>();
  /** Refs in the files for Git (`HEAD`, `packed-refs`), by repository id. */
  readonly #shown = new Map<string, Refs>();
  /**
   * Schedule used only for saves. A schedule divides the CPU time of each event loop turn among its users. If saves
   * shared it with many requests, they would take seconds.
   */
  readonly #schedule = new Schedule();

  constructor(private readonly ports: KeptFolderPorts) {}

  /**
   * Takes over the state that was read from the folder at the start as the last complete save. Unchanged files are then
   * not written again. Returns false if files are missing or must be replaced. `isGitCurrent` is true if the files that
   * only Git reads are up to date.
   */
  async adopt(
    found: ReadRepositories,
    { snapshot, world }: SavedState,
    { hasSecrets, isGitCurrent }: { readonly hasSecrets: boolean; readonly isGitCurrent: boolean },
  ): Promise<boolean> {
    const { engine, secrets } = this.ports;
    const repositories = new Map<string, KeptRepository>();
    let isWhole = true;
    for (const [id, read] of found) {
      const content = engine.forkContent(snapshot.repositories.contents.get(id)!, this.#schedule);
      const packs = await this.#adoptPacks(read, content.objects).finally(() => content.release());
      isWhole &&= packs !== undefined;
      const files = packs ? read.files : await this.#present(read.files);
      repositories.set(id, {
        record: packs && hasSecrets === secrets ? read.record : undefined,
        listed: read.listed,
        packs: packs ?? [],
        world,
        files: new Set(files),
        lists: undefined,
      });
      for (const path of files) this.#files.add(path);
      if (isGitCurrent) this.#shown.set(id, read.record.refs);
    }
    this.#kept = { repositories, lists: undefined };
    return isWhole;
  }

  /**
   * Saves a state in the folder. Rejects with the file system's error; the folder then contains either the previous or
   * the new state.
   */
  async save(saved: SavedState): Promise<void> {
    const { folder, config, secrets } = this.ports;
    const { snapshot, isLast = false } = saved;
    const meter = new Meter({ schedule: this.#schedule });
    const writes = new FolderWrites(folder, this.#folders, (path) => this.#files.has(path), meter);
    try {
      const repositories = new Map<string, KeptRepository>();
      const listed: ListedRepository[] = [];
      const changed: string[] = [];
      for (const record of snapshot.repositories.records.byId.values()) {
        const before = this.#kept.repositories.get(record.id);
        const isKept = before?.record === record;
        const kept = isKept ? before : await this.#write(record, saved, before, writes, meter);
        if (!isKept) changed.push(record.id);
        repositories.set(record.id, kept);
        listed.push(kept.listed);
      }
      const manifest = showWorld(snapshot, config, secrets, listed);
      const lists = await this.#writeLists(manifest, this.#kept.lists, '', writes, meter);
      writes.replace(MANIFEST, Buffer.from(jsonOf(manifest)));
      // From now on the new state is complete, because `emulator.json` refers to its files. A later error must not
      // remove them.
      writes.keep();
      const gone = this.#replace({ repositories, lists }, changed);
      const stale = isLast ? repositories.values() : changed.map((id) => repositories.get(id)!);
      await this.#writeForGit(stale, isLast, writes, meter);
      for (const each of gone) await this.#removeFolder(each);
    } catch (error) {
      writes.undo();
      throw error;
    }
  }

  /** Removes all files that do not belong to the last complete save. */
  async prune(): Promise<void> {
    const own = new Set(this.#files).add(MANIFEST);
    for (const { listed } of this.#kept.repositories.values()) {
      if (listed.folder === undefined) continue;
      for (const name of ['HEAD', 'config', 'packed-refs', 'refs', 'objects/pack']) own.add(`${listed.folder}/${name}`);
    }
    await prune(this.ports.folder, own);
  }

  async #write(
    record: RepositoryRecord,
    { snapshot, world }: SavedState,
    before: KeptRepository | undefined,
    writes: FolderWrites,
    meter: Meter,
  ): Promise<KeptRepository> {
    const { engine, secrets } = this.ports;
    const listed = listRepository(record, snapshot.repositories);
    const { folder } = listed;
    if (folder === undefined) return { record, listed, packs: [], world, files: new Set(), lists: undefined };
    const files = new Set<string>();
    const content = snapshot.repositories.contents.get(record.id)!;
    let packs = before?.packs ?? [];
    if (content.size !== (packs.at(-1)?.to ?? 0) || before?.world !== world) {
      const fork = engine.forkContent(content, this.#schedule);
      try {
        if (before && before.world !== world) packs = await samePacks(fork.objects, packs, meter);
        packs = await addPack(folder, fork.objects, packs, writes, meter);
      } finally {
        fork.release();
      }
    }
    for (const pack of packs) for (const path of packFiles(folder, pack)) files.add(path);
    for (const [oid, { blocks }] of record.lfsObjects?.entries() ?? []) {
      const path = lfsPath(folder, oid);
      files.add(path);
      await writes.add(path, blocks);
    }
    const names = packs.map(({ checksum }) => `pack-${checksum}.pack`);
    const shown = showRecord(record, names, secrets);
    const lists = await this.#writeLists(shown, before?.lists, `${folder}/`, writes, meter);
    for (const file of listFiles(lists)) files.add(`${folder}/${file}`);
    const { name, text } = recordFile(shown);
    files.add(`${folder}/${name}`);
    await writes.add(`${folder}/${name}`, [text]);
    return { record, listed: { ...listed, record: name }, packs, world, files, lists };
  }

  /**
   * Writes each long list in a JSON value to files of its own, and replaces the list in the value with the names of
   * these files. `before` contains the lists of the previous save; files of unchanged lists are reused.
   */
  async #writeLists(
    value: object,
    before: WrittenLists | undefined,
    folder: string,
    writes: FolderWrites,
    meter: Meter,
  ): Promise<WrittenLists> {
    const lists = new Map<string, WrittenList>();
    for (const [path, list] of listsIn(value)) {
      const files: [string, Buffer][] = [];
      const note = (file: string, content: Buffer) => files.push([file, content]);
      const written = await runYielding(splitList(list, before?.get(path), note), meter);
      list.shown = written.json;
      lists.set(path, written);
      for (const [file, content] of files) await writes.add(folder + file, [content]);
    }
    return lists;
  }

  /**
   * Records the new content of the folder, and removes files that only the previous state needed. `changed` lists the
   * ids of the repositories that this save has written. Returns the paths of folders that no longer belong to a
   * repository.
   */
  #replace(now: Kept, changed: readonly string[]): readonly string[] {
    const before = this.#kept;
    this.#kept = now;
    const needed = new Set(listFiles(now.lists));
    for (const id of changed) for (const path of now.repositories.get(id)!.files) needed.add(path);
    // Searches for removed repositories only if necessary. A world never loses repositories (a deleted one keeps its
    // record). They can only be missing after another world has replaced the world.
    const isShorter = now.repositories.size < before.repositories.size + changed.length;
    const absent = isShorter ? [...before.repositories.keys()].filter((id) => !now.repositories.has(id)) : [];
    const replaced = [...changed, ...absent].flatMap((id) => before.repositories.get(id) ?? []);
    for (const path of [...replaced.flatMap(({ files }) => [...files]), ...listFiles(before.lists)]) {
      if (needed.has(path)) continue;
      this.#files.delete(path);
      removeFile(join(this.ports.folder, path));
    }
    for (const path of needed) this.#files.add(path);
    const gone = replaced.filter(({ listed: { id, folder } }) => folder && !now.repositories.get(id)?.listed.folder);
    if (gone.length === 0) return [];
    for (const { listed } of gone) this.#shown.delete(listed.id);
    const living = new Set(Array.from(now.repositories.values(), ({ listed }) => listed.folder));
    return gone.map(({ listed }) => listed.folder!).filter((folder) => !living.has(folder));
  }

  async #writeForGit(
    repositories: Iterable<KeptRepository>,
    isLast: boolean,
    writes: FolderWrites,
    meter: Meter,
  ): Promise<void> {
    for (const { record, listed } of repositories) {
      const { folder } = listed;
      const refs = record?.refs;
      if (folder === undefined || !refs || this.#shown.get(listed.id) === refs) continue;
      if (refs.size > FEW_REFS && !isLast) continue;
      const shown = this.#shown.get(listed.id);
      writes.makeFolder(`${folder}/refs`);
      writes.makeFolder(`${folder}/objects/pack`);
      const { config, HEAD, 'packed-refs': packed } = gitTexts(refs);
      if (!shown) writes.overwrite(`${folder}/config`, config);
      if (shown?.head !== refs.head) writes.overwrite(`${folder}/HEAD`, HEAD);
      writes.overwrite(`${folder}/packed-refs`, packed);
      this.#shown.set(listed.id, refs);
      if (meter.shouldYield) await meter.yieldToEventLoop();
    }
  }

  /** Removes the folder of a repository that no longer exists, and all parent folders that are then empty. */
  async #removeFolder(path: string): Promise<void> {
    const root = this.ports.folder;
    await rm(join(root, path), { recursive: true, force: true }).catch(() => {});
    this.#folders.clear();
    try {
      for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) rmdirSync(join(root, folder));
    } catch {
      // Stops at the first parent folder that is not empty, for which `rmdirSync` throws. All folders above it are not
      // empty either.
    }
  }

  async #present(paths: readonly string[]): Promise<string[]> {
    const found = await Promise.all(paths.map((path) => lstat(join(this.ports.folder, path)).catch(() => undefined)));
    return paths.filter((_, at) => found[at]?.isFile());
  }

  /**
   * Returns the packs that were read from the folder. Each has the range of its object numbers, which are indices into
   * the tables of the store. Returns undefined if the packs do not match the store, or if an index file is missing.
   */
  async #adoptPacks({ listed, packs }: ReadRepository, objects: ObjectStore): Promise<KeptPack[] | undefined> {
    const meter = new Meter({ schedule: this.#schedule });
    const adopted: KeptPack[] = [];
    for (const { checksum, count, size } of packs ?? []) {
      const from = adopted.at(-1)?.to ?? 0;
      const [, index] = packFiles(listed.folder!, { checksum });
      const found = await lstat(join(this.ports.folder, index)).catch(() => undefined);
      if (!found?.isFile()) return undefined;
      adopted.push({ checksum, from, to: from + count, size, ids: await hashIds(objects, from, from + count, meter) });
    }
    return packs && adopted;
  }
}

function listFiles(lists: WrittenLists | undefined): string[] {
  return [...(lists?.values() ?? [])].flatMap(({ parts }) => parts.map(({ name }) => name));
}
