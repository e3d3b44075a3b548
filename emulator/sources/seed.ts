import { indexPack } from '../git/index-pack/index-pack.js';
import { bytesOf, textOf } from '../git/object/bytes.js';
import { commitLinks, writeCommit } from '../git/object/commit.js';
import { COMMIT, type Oid, readAs, ZERO_OID } from '../git/object/object.js';
import type { Quarantine } from '../git/odb/quarantine.js';
import { writePack } from '../git/pack-objects/pack-writer.js';
import { Refs } from '../git/refs/refs.js';
import { GitRepository } from '../git/repository/repository.js';
import { branchRef } from '../repositories/branch-write.js';
import type { RepositoryContent } from '../repositories/content.js';
import { copyObjects } from '../repositories/copy.js';
import type { Repository } from '../repositories/repository.js';
import { repositoryNameIssue } from '../repositories/repository-name.js';
import { Meter } from '../schedule/meter.js';
import type { World } from '../world/world.js';
import { SourceError } from './file-tree.js';
import { describeFailure, planRefs, takeObjects } from './fill.js';
import { type FilesSource, writeFiles } from './folder.js';
import { type HistorySource, isTaken } from './history-source.js';
import { type GivenSource, openSource } from './open-source.js';
import type { Seeded, SeedOptions } from './seeded.js';

const AUTHOR = { name: 'Repository Seed', email: 'seed@localhost' };
const MESSAGE = 'Add files\n';

/**
 * Fills a repository of the emulator from a source (path, URL, bundle or files) or from another repository, and creates
 * it if necessary. Everything is checked like a push, and published only if all of it is valid. Rejects with
 * `SourceError`.
 */
export async function seed(
  world: World,
  organization: string,
  name: string,
  given: GivenSource | Repository,
  options: SeedOptions = {},
): Promise<Seeded> {
  requireName(world, organization, name);
  const { limits } = world;
  const title = typeof given === 'string' ? given : 'The source';
  try {
    if (isRepository(given)) return await take(world, organization, name, historyOf(given), options);
    const source = await openSource(given, { objectBytes: limits.maxObjectBytes, timeout: limits.idleTimeout });
    try {
      return await take(world, organization, name, source, options);
    } finally {
      if ('packs' in source) await source.close?.();
    }
  } catch (error) {
    throw describeFailure(title, error);
  }
}

/**
 * Fills a repository of the emulator from a history that was already opened, and creates it if necessary. `as`:
 * `history` imports all commits; `files` makes one new commit of the newest files. Rejects with `SourceError`.
 */
export async function seedFrom(
  world: World,
  organization: string,
  name: string,
  source: HistorySource,
  { as, ...options }: SeedOptions & { readonly as: 'history' | 'files' },
): Promise<Seeded> {
  requireName(world, organization, name);
  try {
    if (as === 'history') return await take(world, organization, name, source, options);
    const content = world.engine.createContent();
    try {
      const own = new PrivateRepository(content, options.defaultBranch ?? 'main', () => world.state.clock.now());
      await own.fill(source, world);
      const tip = own.git.refs.headOid;
      if (tip === undefined) throw new SourceError(`${source.title} has no files, so no commit can be created.`);
      return await take(world, organization, name, { title: source.title, git: own.git, tip }, options);
    } finally {
      content.release();
    }
  } catch (error) {
    throw describeFailure(source.title, error);
  }
}

/** Commit (`tip`) in another repository whose files are copied without their history. */
interface CommitFiles {
  readonly title: string;
  readonly git: GitRepository;
  readonly tip: Oid;
}

function requireName({ state }: World, organization: string, name: string): void {
  if (!state.organizations.get(organization))
    throw new SourceError(`The organization ${JSON.stringify(organization)} does not exist in the emulator.`);
  const fault = repositoryNameIssue(name);
  if (fault !== undefined) throw new SourceError(`The repository name ${JSON.stringify(name)} ${fault}.`);
}

function isRepository(given: GivenSource | Repository): given is Repository {
  return typeof given === 'object' && given !== null && 'git' in given && given.git instanceof GitRepository;
}

async function take(
  world: World,
  organization: string,
  name: string,
  source: HistorySource | FilesSource | CommitFiles,
  { defaultBranch = 'main' }: SeedOptions,
): Promise<Seeded> {
  const { state, engine } = world;
  const meter = new Meter({ schedule: engine.schedule });
  const found = state.repositories.find(organization, name);
  const known = found?.state === 'deleted' ? undefined : found;
  const content = engine.createContent();
  try {
    const own = new PrivateRepository(content, defaultBranch, () => state.clock.now());
    let refs: Readonly<Record<string, string>>;
    if (!('packs' in source)) {
      refs = await commitFiles(known?.git ?? own.git, known, source, world, defaultBranch, meter);
    } else {
      await own.fill(source, world);
      if (known) await copyInto(known, content, source);
      refs = Object.fromEntries(source.refs.map((ref) => [textOf(ref.name), ref.oid]));
    }
    const branch = textOf(own.defaultBranch);
    const repository =
      known ??
      state.repositories.create(organization, name, { defaultBranch: branch }, { content, refs: own.git.refs });
    if (known) content.release();
    const shown = repository.defaultBranch;
    return {
      name,
      organization,
      isNew: known === undefined,
      isFiles: !('packs' in source),
      defaultBranch: shown === undefined ? undefined : textOf(shown),
      commit: repository.git.refs.headOid,
      refs,
    };
  } catch (error) {
    content.release();
    throw error;
  }
}

/**
 * Repository that clients cannot see yet, because it is not in the world (state of the emulator). It is filled first,
 * and its content is then moved to a visible repository.
 */
export class PrivateRepository {
  readonly git: GitRepository;
  #refs: Refs;

  constructor(content: RepositoryContent, defaultBranch: string, now: () => number) {
    this.#refs = Refs.empty(bytesOf(defaultBranch));
    this.git = new GitRepository(content.objects, content.history, {
      read: () => this.#refs,
      swap: (refs) => {
        this.#refs = refs;
      },
      now,
      requireWritable: () => {},
    });
  }

  /** Imports all refs and objects of a history, with the checks of a push. */
  async fill(source: HistorySource, { config, engine }: World): Promise<void> {
    const meter = new Meter({ schedule: engine.schedule });
    const { maxObjectBytes: objectBytes } = config.limits;
    await this.git.transact(async (transaction) => {
      await takeObjects(transaction.objects, source, { fsck: config.fsck, objectBytes }, meter);
      planRefs(this.git, transaction, source);
    });
  }

  get defaultBranch() {
    const { head } = this.#refs;
    return bytesOf('symref' in head ? head.symref.slice('refs/heads/'.length) : 'main');
  }
}

/**
 * Commits files to the default branch, as a child of its newest commit. Creates no commit if the files have not
 * changed. Returns the commit id by ref name.
 */
async function commitFiles(
  git: GitRepository,
  known: Repository | undefined,
  source: FilesSource | CommitFiles,
  { state, config, limits }: World,
  defaultBranch: string,
  meter: Meter,
): Promise<Record<string, string>> {
  const ref = branchRef((known ? known.defaultBranch : undefined) ?? bytesOf(defaultBranch), false);
  const bounds = { objectBytes: config.limits.maxObjectBytes, bytes: limits.maxCommitBytes, files: limits.maxFiles };
  return git.transact(async (transaction) => {
    const { objects } = transaction;
    const tree = 'git' in source ? await copyTree(source, objects) : await writeFiles(objects, source, bounds, meter);
    const tip = transaction.refs.get(ref);
    if (tip !== undefined && commitLinks(readAs(objects, tip, COMMIT)).tree === tree) return { [textOf(ref)]: tip };
    const author = { ...AUTHOR, seconds: Math.floor(state.clock.now() / 1000), offset: '+0000' };
    const parents: Oid[] = tip === undefined ? [] : [tip];
    const commit = objects.write(COMMIT, writeCommit({ tree, parents, author, committer: author, message: MESSAGE }));
    transaction.update({ name: ref, old: tip ?? ZERO_OID, new: commit });
    return { [textOf(ref)]: commit };
  });
}

async function copyTree(source: CommitFiles, target: Quarantine): Promise<Oid> {
  const { tree } = commitLinks(readAs(source.git.objects, source.tip, COMMIT));
  await copyObjects(source, target, tree);
  return tree;
}

/** Copies objects and refs that were already checked to an existing repository, in one transaction. */
async function copyInto({ git }: Repository, { objects }: RepositoryContent, source: HistorySource): Promise<void> {
  const all = Int32Array.from({ length: objects.size }, (_, number) => number);
  await git.transact(async (transaction) => {
    if (all.length > 0) await indexPack(transaction.objects, writePack(objects, all), { thin: false });
    planRefs(git, transaction, source);
  });
}

/** Returns the current history of a repository of the emulator, from which another repository is filled. */
function historyOf({ git, record, name }: Repository): HistorySource {
  const { refs } = git;
  const taken = [...refs.entries()].filter(([ref]) => isTaken(ref)).map(([ref, { oid }]) => ({ name: ref, oid }));
  if (record.state === 'deleted')
    throw new SourceError(`The repository ${JSON.stringify(name)} does not exist in the emulator.`);
  return {
    title: `The repository ${name}`,
    refs: taken,
    head: refs.head,
    async *packs() {
      if (taken.length === 0) return;
      const meter = new Meter({ schedule: git.objects.schedule });
      const plan = await git.history.plan({ wants: taken.map(({ oid }) => oid) }, meter);
      yield writePack(git.objects, plan.objects);
    },
  };
}
