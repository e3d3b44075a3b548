import { AUTHOR, commitFiles, createRepo, type FileContent } from './api.js';
import { expectSuccess, NotHere, Unmet } from './expect.js';
import { buildHaystack, type Haystack } from './fixtures/haystack.js';
import { buildLibrary, type Library } from './fixtures/library.js';
import { buildNursery, type Nursery } from './fixtures/nursery.js';
import { type Services, Trial } from './trial.js';

/** A small repository with a slash in its name; everything about credentials is tried on it. */
export interface Sample {
  readonly name: string;
  /** Known only where the suite made the repository itself. */
  readonly tip?: string;
}

const SAMPLE_FILES = {
  'README.md': '# Sample\n',
  'shared.txt': 'bytes of the sample\n',
  'sample.txt': 'sample\n',
};
const OTHER_FILES = { 'README.md': '# Other\n', 'shared.txt': 'bytes of the other\n', 'other.txt': 'other\n' };

export interface WorldOptions {
  /** Told of every repository before it is asked for. */
  readonly onRepository: (name: string) => Promise<void>;
  /** First part of every name the run makes. */
  readonly prefix: string;
}

/**
 * The repositories of a run. Each fixture is made once, when the first rule asks for it; rules that ask later wait
 * for the same one. Where making it goes wrong, every rule that needs it says so.
 */
export class World {
  readonly #made = new Map<string, Promise<unknown>>();
  #services: Services | undefined;
  #count = 0;

  constructor(readonly options: WorldOptions) {}

  /** Has to be called once, before the first fixture. */
  attach(services: Services): void {
    this.#services = services;
  }

  sample(t: Trial): Promise<Sample> {
    const { repo, write } = t.target;
    if (repo !== undefined && !write) return Promise.resolve({ name: repo });
    return this.#once(t, 'sample', async (maker) => this.#seeded(maker, `${this.options.prefix}/sample`, SAMPLE_FILES));
  }

  /** A second repository; it has `shared.txt` in common with the sample, with other bytes. */
  other(t: Trial): Promise<Required<Sample>> {
    return this.#once(t, 'other', async (maker) => this.#seeded(maker, `${this.options.prefix}-other`, OTHER_FILES));
  }

  /** A repository without commits. */
  empty(t: Trial): Promise<Sample> {
    return this.#once(t, 'empty', async (maker) => {
      const name = `${this.options.prefix}-empty`;
      await this.create(maker, name);
      return { name };
    });
  }

  /** A pushed history in which every detail of every commit is known. */
  library(t: Trial): Promise<Library> {
    return this.#once(t, 'library', (maker) => buildLibrary(maker, `${this.options.prefix}-library`));
  }

  /** Many files with many equal lines. */
  haystack(t: Trial): Promise<Haystack> {
    return this.#once(t, 'haystack', (maker) => buildHaystack(maker, `${this.options.prefix}-haystack`));
  }

  /** Branches in the ephemeral namespace. */
  nursery(t: Trial): Promise<Nursery> {
    return this.#once(t, 'nursery', (maker) => buildNursery(maker, `${this.options.prefix}-nursery`));
  }

  /** The repository that the rules of one group write to, one after the other. */
  scratch(t: Trial): Promise<Required<Sample>> {
    return this.#once(t, `scratch of ${t.rule.group}`, (maker) =>
      this.#seeded(maker, `${this.options.prefix}/${t.rule.group}`, SAMPLE_FILES),
    );
  }

  /** A repository for one rule alone, with these files on `main`. */
  async fresh(t: Trial, files: Readonly<Record<string, FileContent>> = SAMPLE_FILES): Promise<Required<Sample>> {
    this.#mayWrite(t);
    return this.#seeded(t, this.newName(), files);
  }

  /** A name no repository has. */
  newName(): string {
    this.#count += 1;
    return `${this.options.prefix}/n${this.#count}`;
  }

  /** Creates a repository and expects that to work. */
  async create(t: Trial, name: string): Promise<void> {
    this.#mayWrite(t);
    await this.options.onRepository(name);
    expectSuccess(await createRepo(t, name));
  }

  async #seeded(t: Trial, name: string, files: Readonly<Record<string, FileContent>>): Promise<Required<Sample>> {
    await this.create(t, name);
    const { sha } = await commitFiles(t, name, files, { commit_message: 'Seed', author: AUTHOR });
    return { name, tip: sha };
  }

  #once<Made>(t: Trial, name: string, make: (maker: Trial) => Promise<Made>): Promise<Made> {
    this.#mayWrite(t);
    let made = this.#made.get(name) as Promise<Made> | undefined;
    if (made === undefined) {
      made = this.#make(name, make);
      made.catch(() => undefined); // told to every rule that asks, below
      this.#made.set(name, made);
    }
    return made.catch((error: unknown) => {
      if (error instanceof FixtureFailure) t.exchanges.push(...error.maker.exchanges.slice(-1));
      throw error instanceof FixtureFailure ? error.cause : error;
    });
  }

  async #make<Made>(name: string, make: (maker: Trial) => Promise<Made>): Promise<Made> {
    if (this.#services === undefined) throw new Error('the world is not attached');
    const maker = new Trial({ id: `fixture ${name}`, group: name, writes: true }, this.#services);
    try {
      return await make(maker);
    } catch (error) {
      const cause =
        error instanceof Unmet
          ? new Unmet(`the fixture "${name}" can be made: ${error.what}`, error.expected, error.actual)
          : error;
      throw new FixtureFailure(maker, cause);
    }
  }

  #mayWrite(t: Trial): void {
    if (!t.target.write) throw new NotHere('needs a repository made for it: --write');
  }
}

class FixtureFailure extends Error {
  constructor(
    readonly maker: Trial,
    override readonly cause: unknown,
  ) {
    super('a fixture could not be made');
  }
}
