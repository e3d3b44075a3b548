import { createHash } from 'node:crypto';
import { bytesOf, textOf } from '../git/object/bytes.js';
import { type Oid, ZERO_OID } from '../git/object/object.js';
import { isRefName } from '../git/refs/ref-name.js';
import { Refs } from '../git/refs/refs.js';
import { checkShape } from '../http/body.js';
import type { KeptContent, RepositoryContent } from '../repositories/content.js';
import { type KeyedRequests, NO_DEPLOYMENTS } from '../repositories/deployments.js';
import type { HostingProject } from '../repositories/hosting.js';
import { NO_LOCKS } from '../repositories/lfs-locks.js';
import {
  heldBytesOf,
  type LfsObject,
  type LfsObjects,
  NO_LFS_OBJECTS,
  SharedLfsObjects,
} from '../repositories/lfs-objects.js';
import type { RepositoryRecord } from '../repositories/repository.js';
import { repositoryNameIssue } from '../repositories/repository-name.js';
import { emptyMap } from '../repositories/sorted-records.js';
import { Meter } from '../schedule/meter.js';
import type { FileTree, SourceError } from '../sources/file-tree.js';
import { describeFailure, takeObjects } from '../sources/fill.js';
import { openGitDirectory } from '../sources/git-directory.js';
import type { PackedObjects } from '../sources/history-source.js';
import { PrivateRepository } from '../sources/seed.js';
import type { CurrentWorld } from '../world/current-world.js';
import { deletedRecord, type RepositoriesSnapshot, recordsOf, releaseRepositories } from '../world/repositories.js';
import { repositoryFolder } from './file-names.js';
import { joinLists } from './list-files.js';
import { checked, digestIn, nameOfText, readJson } from './read-json.js';
import { type ListedRepository, type RepositoryFile, recordSchema, snakeCased, type WorldManifest } from './schema.js';
import { lfsPath } from './write-state.js';

export type Fail = (why: string) => SourceError;

/** Repository that was read from an export (saved state of an emulator), and the files that contained it. */
export interface ReadRepository {
  readonly listed: ListedRepository;
  readonly record: RepositoryRecord;
  /**
   * Packs that contain each object of the repository exactly once, in the order of the object numbers. Undefined if the
   * objects were read from other packs.
   */
  readonly packs: readonly ReadPack[] | undefined;
  /** Paths of the repository's files. Excludes those that only Git reads (`HEAD`, `config`, `packed-refs`). */
  readonly files: readonly string[];
}

export interface ReadPack {
  /** SHA-1 in the names of the pack's files, `pack-<SHA-1>.pack` and `pack-<SHA-1>.idx`. */
  readonly checksum: string;
  /** Number of objects in the pack, from its header. */
  readonly count: number;
  readonly size: number;
}

/** Repositories that were read from an export, by repository id. */
export type ReadRepositories = ReadonlyMap<string, ReadRepository>;

/**
 * Reads all repositories of an export (saved state of an emulator). The caller must release the memory to which the
 * returned snapshot refers. Throws `SourceError` if the export is invalid.
 */
export async function readRepositories(
  current: CurrentWorld,
  tree: FileTree,
  { repositories: listed, world }: WorldManifest,
  fail: Fail,
): Promise<{ readonly snapshot: RepositoriesSnapshot; readonly repositories: ReadRepositories }> {
  const { memory } = current.engine;
  const reader = new RepositoryReader(current, tree, fail);
  const records: RepositoryRecord[] = [];
  const contents = new Map<string, KeptContent>();
  const sequences = new Set<number>();
  const living = new Set<string>();
  const repositories = new Map<string, ReadRepository>();
  const snapshot = () => ({
    records: recordsOf(records, world.created),
    contents,
    syncing: [],
    lfs:
      reader.lfsObjects.size === 0 ? undefined : new SharedLfsObjects(new Set(reader.lfsObjects.values()), undefined),
  });
  try {
    for (const entry of listed) {
      const { organization, name, id, sequence, created_at: createdAt, folder, record: file } = entry;
      const what = `the repository ${JSON.stringify(name)} of ${organization}`;
      const fault = repositoryNameIssue(name);
      if (fault !== undefined) throw fail(`the repository name ${JSON.stringify(name)} ${fault}`);
      if (!current.config.organizations.some((own) => own.name === organization))
        throw fail(`the organization of ${what} does not exist`);
      if (contents.has(id) || sequences.has(sequence) || sequence > world.created)
        throw fail(`${what} has the same id or sequence number as another repository`);
      sequences.add(sequence);
      const base = { id, organization, name, sequence, createdAt };
      if (folder === undefined || file === undefined) {
        const content = current.engine.createContent();
        const record = deletedRecord(base);
        records.push(record);
        repositories.set(id, { listed: entry, record, packs: [], files: [] });
        contents.set(id, content.keep());
        content.release();
      } else {
        if (folder !== repositoryFolder(organization, name))
          throw fail(`${what} cannot be in the folder ${JSON.stringify(folder)}`);
        if (living.has(folder)) throw fail(`${what} is listed twice`);
        living.add(folder);
        const { record, kept, ...found } = await reader.read(folder, file, base);
        records.push(record);
        repositories.set(id, { listed: entry, record, ...found });
        contents.set(id, kept);
      }
    }
    return { snapshot: snapshot(), repositories };
  } catch (error) {
    releaseRepositories(snapshot(), memory);
    throw describeFailure(tree.title, error);
  }
}

type RecordBase = Pick<RepositoryRecord, 'id' | 'organization' | 'name' | 'sequence' | 'createdAt'>;

/** Reads repositories from their folders in an export, one after the other. */
class RepositoryReader {
  /**
   * LFS objects by id and time of storage. An object is in memory only once, even if several repositories contain it.
   */
  readonly lfsObjects = new Map<string, LfsObject>();

  constructor(
    private readonly current: CurrentWorld,
    private readonly tree: FileTree,
    private readonly fail: Fail,
  ) {}

  async read(
    folder: string,
    file: string,
    base: RecordBase,
  ): Promise<{ kept: KeptContent } & Omit<ReadRepository, 'listed'>> {
    const { tree, fail } = this;
    const digest = digestIn('record', file);
    if (digest === undefined)
      throw fail(
        `${folder}: its repository.json has another name than the list of repositories: ${JSON.stringify(file)}`,
      );
    const files = [`${folder}/${file}`];
    const written = await readJson(tree, files[0]!, digest);
    const given = await joinLists(written, tree, `${folder}/`, (path) => files.push(path));
    const saved = checked(() => checkShape(recordSchema(), given, `${folder}/${file}`), tree);
    const content = this.current.engine.createContent();
    try {
      const packs: ReadPack[] = [];
      const refs = await this.#readHistory(content, await this.#objectsOf(folder, saved, packs), saved);
      const lfsObjects = await this.#readLfsObjects(folder, saved);
      const record = { ...base, ...toRecord(saved), refs, watermark: content.objects.size, lfsObjects };
      for (const { oid } of saved.lfs_objects) files.push(lfsPath(folder, oid));
      for (const name of saved.packs)
        files.push(`${folder}/objects/pack/${name}`, `${folder}/objects/pack/${name.replace(/pack$/, 'idx')}`);
      const found = packs.reduce((sum, { count }) => sum + count, 0);
      return { record, kept: content.keep(), files, packs: found === content.objects.size ? packs : undefined };
    } finally {
      content.release();
    }
  }

  /**
   * Opens the packs of a repository. Uses the packs that the repository's record names, if all of them exist, and adds
   * each to `packs` when it is read. Otherwise somebody has repacked the repository with Git, and all packs in its
   * folder are used.
   */
  async #objectsOf(folder: string, { packs: names }: RepositoryFile, packs: ReadPack[]): Promise<PackedObjects> {
    const { tree } = this;
    const found = await Promise.all(names.map((name) => tree.stat(bytesOf(`${folder}/objects/pack/${name}`))));
    if (found.every((entry) => entry?.kind === 'file')) {
      const readPack = async function* (name: string, size: number): AsyncGenerator<Buffer> {
        let isFirst = true;
        for await (const piece of tree.read(bytesOf(`${folder}/objects/pack/${name}`))) {
          // Reads the number of objects from the pack header: signature, version and number of objects, 4 bytes each.
          if (isFirst && piece.length >= 12)
            packs.push({ checksum: name.slice('pack-'.length, -'.pack'.length), count: piece.readUInt32BE(8), size });
          isFirst = false;
          yield piece;
        }
      };
      return {
        async *packs() {
          for (const [at, name] of names.entries()) yield readPack(name, found[at]!.size);
        },
      };
    }
    if ((await tree.stat(bytesOf(`${folder}/objects`)))?.kind !== 'folder')
      throw this.fail(`${folder} has no folder objects`);
    const maxBytes = this.current.config.limits.maxObjectBytes;
    return openGitDirectory(tree, bytesOf(folder), maxBytes);
  }

  async #readHistory(content: RepositoryContent, source: PackedObjects, saved: RepositoryFile): Promise<Refs> {
    const { fail } = this;
    const { fsck, limits } = this.current.config;
    const given = saved.refs.map(([name, oid, createdAt]) => ({ name: nameOfText(name), oid: oid as Oid, createdAt }));
    const wrong = given.find(({ name }) => !isRefName(name));
    if (wrong) throw fail(`${JSON.stringify(textOf(wrong.name))} is not a ref name`);
    const head = 'symref' in saved.head ? { symref: nameOfText(saved.head.symref) } : { oid: saved.head.oid as Oid };
    if ('symref' in head && !isRefName(head.symref)) throw fail('the target of HEAD is not a valid ref name');
    const meter = new Meter({ schedule: content.objects.schedule });
    // Publishes the whole quarantine (objects that are not visible yet). It includes objects that no ref reaches,
    // because clients can request them by id.
    const quarantine = content.objects.quarantine();
    try {
      await takeObjects(quarantine, source, { fsck, objectBytes: limits.maxObjectBytes }, meter);
      await quarantine.peelTags();
      quarantine.publish();
    } finally {
      quarantine.discard();
    }
    await new PrivateRepository(content, 'main', () => 0).git.transact((transaction) => {
      for (const { name, oid } of given) transaction.update({ name, old: ZERO_OID, new: oid });
    });
    if ('oid' in head && content.objects.find(head.oid) < 0) throw fail('HEAD names a commit that does not exist');
    const byTime = new Map<number, (typeof given)[number][]>();
    for (const ref of given) byTime.set(ref.createdAt, [...(byTime.get(ref.createdAt) ?? []), ref]);
    let dated = Refs.empty(bytesOf('main')).withHead(head);
    for (const [createdAt, group] of byTime)
      dated = dated.with(
        group.map(({ name, oid }) => [name, oid] as const),
        createdAt,
      );
    return dated;
  }

  async #readLfsObjects(folder: string, { lfs_objects: saved }: RepositoryFile): Promise<LfsObjects | undefined> {
    if (saved.length === 0) return undefined;
    let objects = NO_LFS_OBJECTS;
    for (const { oid, size, stored_at: storedAt } of saved) {
      const key = `${oid} ${storedAt}`;
      const object = this.lfsObjects.get(key) ?? (await this.#readLfsObject(lfsPath(folder, oid), oid, size, storedAt));
      this.lfsObjects.set(key, object);
      objects = objects.with(oid, object, true);
    }
    return objects;
  }

  async #readLfsObject(path: string, oid: string, size: number, storedAt: number): Promise<LfsObject> {
    const { fail, tree } = this;
    const { config, engine } = this.current;
    const max = config.limits.maxLfsObjectBytes;
    if (size > max) throw fail(`the LFS object ${oid} is larger than ${max} bytes`);
    if ((await tree.stat(bytesOf(path)))?.kind !== 'file') throw fail(`the LFS object ${oid} is missing`);
    const hash = createHash('sha256');
    const blocks: Buffer[] = [];
    let bytes = 0;
    for await (const piece of tree.read(bytesOf(path))) {
      bytes += piece.length;
      if (bytes > size) break;
      hash.update(piece);
      blocks.push(Buffer.from(piece));
    }
    if (bytes !== size || hash.digest('hex') !== oid)
      throw fail(`the content of the LFS object ${oid} does not match its id`);
    const object = { size, blocks, storedAt };
    engine.memory.take(heldBytesOf(object));
    return object;
  }
}

function toRecord(saved: RepositoryFile): Omit<RepositoryRecord, keyof RecordBase | 'refs' | 'watermark'> {
  const { state, override, thaw, base_repo: baseRepo, credential: gitCredential, hosting, deployments } = saved;
  const lfsLocks = saved.lfs_locks.reduce((all, lock) => all.with(lock), NO_LOCKS);
  return {
    state,
    override,
    thaw,
    baseRepo,
    gitCredential,
    lfsLocks,
    hosting: hosting && readHosting(hosting),
    ...(deployments && readDeployments(deployments)),
  };
}

function readHosting({ env = {}, ...settings }: NonNullable<RepositoryFile['hosting']>): HostingProject {
  return { ...(snakeCased(settings) as unknown as HostingProject), env: new Map(Object.entries(env)) };
}

function readDeployments({ items, keys }: NonNullable<RepositoryFile['deployments']>) {
  let deployments = NO_DEPLOYMENTS;
  for (const item of items) deployments = deployments.with({ ...item, commit: item.commit as Oid });
  let deploymentKeys: KeyedRequests = emptyMap();
  for (const { key, request, id } of keys) {
    if (deployments.get(id)) deploymentKeys = deploymentKeys.with(key, { request, id }, true);
  }
  return { deployments, deploymentKeys };
}
