import { packageVersion } from '../config/version.js';
import { concatBytes, latin1 } from '../git/object/bytes.js';
import type { ObjectStore } from '../git/odb/object-store.js';
import { describePack } from '../git/pack-objects/pack-index.js';
import { writePack } from '../git/pack-objects/pack-writer.js';
import type { Refs } from '../git/refs/refs.js';
import type { KeptContent } from '../repositories/content.js';
import type { RepositoryRecord } from '../repositories/repository.js';
import { MANIFEST } from '../sources/open-source.js';
import type { CurrentWorld } from '../world/current-world.js';
import type { Engine } from '../world/engine.js';
import type { RepositoriesSnapshot } from '../world/repositories.js';
import type { WorldSnapshot } from '../world/state.js';
import { repositoryFolder } from './file-names.js';
import { jsonOf } from './read-json.js';
import { FORMAT, type ListedRepository, VERSION } from './schema.js';
import { recordFile, showRecord } from './show-record.js';
import { showWorld } from './show-world.js';
import type { TarEntry } from './tar.js';

/** Returns an export entry for a file whose content is in memory. */
export function fileOf(path: string, bytes: Buffer | string): TarEntry {
  const content = Buffer.from(bytes as string);
  return {
    path,
    size: content.length,
    async *content() {
      if (content.length > 0) yield content;
    },
  };
}

/**
 * Returns the manifest entry of a repository. The entry has no folder if the repository was deleted or is incomplete.
 */
export function listRepository(
  { organization, name, id, sequence, createdAt, state, baseRepo }: RepositoryRecord,
  { syncing }: Pick<RepositoriesSnapshot, 'syncing'>,
): ListedRepository {
  const listed: ListedRepository = { organization, name, id, sequence, created_at: createdAt };
  // Exports a repository that is still being created as if it were deleted. If it has an upstream, it is exported
  // normally, because it can be filled again from there.
  const isUnfinished = syncing.includes(id) && !baseRepo;
  if (state === 'deleted' || isUnfinished) return listed;
  return { ...listed, folder: repositoryFolder(organization, name) };
}

/**
 * Yields the files of an export of the emulator's whole state. The manifest comes last. `secrets` is true to include
 * passwords, webhook secrets and deployment variables.
 */
export async function* writeWorld(
  snapshot: WorldSnapshot,
  { config, engine }: Pick<CurrentWorld, 'config' | 'engine'>,
  secrets: boolean,
): AsyncGenerator<TarEntry> {
  const { records, contents } = snapshot.repositories;
  const repositories: ListedRepository[] = [];
  for (const record of records.byId.values()) {
    const listed = listRepository(record, snapshot.repositories);
    if (listed.folder === undefined) repositories.push(listed);
    else {
      const text = yield* writeRepository(listed.folder, record, contents.get(record.id)!, engine, secrets);
      repositories.push({ ...listed, record: text });
    }
  }
  yield fileOf(MANIFEST, jsonOf(showWorld(snapshot, config, secrets, repositories)));
}

/**
 * Content of the file `config` in a repository's folder. It is the minimum for Git to accept the folder as a
 * repository.
 */
const CONFIG = '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n';

/**
 * Yields the files of a repository: a bare repository that Git can read, its LFS objects, and its record (all other
 * state). Returns the name of the record file.
 */
async function* writeRepository(
  folder: string,
  record: RepositoryRecord,
  kept: KeptContent,
  engine: Engine,
  secrets: boolean,
): AsyncGenerator<TarEntry, string> {
  const content = engine.forkContent(kept);
  try {
    const packs = yield* writePacks(folder, content.objects);
    for (const [oid, { size, blocks }] of record.lfsObjects?.entries() ?? []) {
      yield {
        path: lfsPath(folder, oid),
        size,
        async *content() {
          yield* blocks;
        },
      };
    }
    yield* gitFiles(folder, record.refs);
    const { name, text } = recordFile(showRecord(record, packs, secrets));
    yield fileOf(`${folder}/${name}`, text);
    return name;
  } finally {
    content.release();
  }
}

export function lfsPath(folder: string, oid: string): string {
  return `${folder}/lfs/objects/${oid.slice(0, 2)}/${oid.slice(2, 4)}/${oid}`;
}

/**
 * Yields one pack with all objects of a repository, and its index. Returns the pack names: one, or none if there are no
 * objects.
 */
async function* writePacks(folder: string, objects: ObjectStore): AsyncGenerator<TarEntry, readonly string[]> {
  yield { path: `${folder}/objects/pack/`, size: 0, content: async function* () {} };
  const numbers = Int32Array.from({ length: objects.size }, (_, number) => number);
  if (numbers.length === 0) return [];
  const { checksum, size, index } = await describePack(objects, numbers);
  const path = `${folder}/objects/pack/pack-${checksum}`;
  yield { path: `${path}.pack`, size, content: () => writePack(objects, numbers) };
  yield fileOf(`${path}.idx`, index);
  return [`pack-${checksum}.pack`];
}

/**
 * Returns the files from which Git reads a repository's refs, as contents by file name. The emulator itself does not
 * read these files.
 */
export function gitTexts(refs: Refs): Readonly<Record<'config' | 'packed-refs' | 'HEAD', Buffer>> {
  const lines = [latin1`# pack-refs with: sorted \n`];
  for (const [name, { oid }] of refs.entries()) lines.push(latin1`${oid} ${name}\n`);
  const head = 'symref' in refs.head ? concatBytes(latin1`ref: `, refs.head.symref) : refs.head.oid;
  return {
    config: Buffer.from(CONFIG),
    'packed-refs': Buffer.from(lines.join(''), 'latin1'),
    HEAD: Buffer.from(`${head}\n`, 'latin1'),
  };
}

function* gitFiles(folder: string, refs: Refs): Generator<TarEntry> {
  yield { path: `${folder}/refs/`, size: 0, content: async function* () {} };
  for (const [name, text] of Object.entries(gitTexts(refs))) yield fileOf(`${folder}/${name}`, text);
}

/** Yields the files of an export of one repository, which another emulator can import. */
export async function* writeSingle(
  record: RepositoryRecord,
  kept: KeptContent,
  engine: Engine,
  target: { readonly name: string; readonly organization?: string | undefined; readonly as: 'history' | 'files' },
): AsyncGenerator<TarEntry> {
  const folder = 'repository.git';
  yield* writeRepository(folder, record, kept, engine, false);
  const { name, organization, as } = target;
  const manifest = {
    format: FORMAT,
    version: VERSION,
    written_by: packageVersion(),
    content: 'repository',
    name,
    ...(organization !== undefined && { organization }),
    as,
    folder,
  };
  yield fileOf(MANIFEST, jsonOf(manifest));
}
