import { randomNumbers } from '../git/test/random-numbers.js';
import { editLines, inventLines, inventMessage, inventPath, pickEarly, type Random } from './code-text.js';

/**
 * Number of files above which the generated project stops growing. From then on, its commits delete more files than
 * they add.
 */
const MAX_FILES = 5000;
const AUTHORS = ['Ada Moss', 'Björn Ek', 'Chidi Obi', 'Dana Roth', 'Eli Sato'];
const START = 1_600_000_000;

/**
 * Generates an invented project history as input for `git fast-import`. Commits edit, add, rename and delete files;
 * there are merged topic branches, annotated tags and release branches. Equal arguments give equal bytes. Format:
 * git-fast-import(1), section "Input format".
 */
export function* historyStream(commits: number, seed = 1): Generator<string> {
  const random = randomNumbers(seed);
  const project = new Project(random);
  let topic: Topic | undefined;
  for (let mark = 1; mark <= commits; mark++) {
    const isLast = mark === commits;
    if (topic && (topic.left === 0 || (isLast && topic.changed.size > 0))) {
      yield* project.merge(mark, topic);
      topic = undefined;
    } else if (topic && random(10) < 6) {
      yield* project.commitToTopic(mark, topic);
    } else {
      if (mark > 10 && !topic && random(100) < 12) topic = { tip: mark - 1, left: 1 + random(6), changed: new Map() };
      yield* project.commit(mark, topic);
    }
    if (mark % 100 === 0) yield* project.release(mark);
  }
}

/**
 * Topic branch that will be merged into the main branch. Until the merge, the main branch does not change the files
 * that the topic branch changed, so that the merge has no conflicts.
 */
interface Topic {
  tip: number;
  left: number;
  readonly changed: Map<string, readonly string[]>;
}

class Project {
  readonly #files = new Map<string, readonly string[]>();
  readonly #paths: string[] = [];
  #tip = 0;

  constructor(private readonly random: Random) {}

  /** Generates a commit on the main branch. `mark` is the commit's number in the fast-import stream. */
  *commit(mark: number, topic: Topic | undefined): Generator<string> {
    const { random } = this;
    yield* this.#head('main', mark, this.#tip);
    for (let change = mark === 1 ? 40 : 1 + random(3); change > 0; change--) {
      const kind = mark === 1 ? 0 : random(100);
      const isFull = this.#paths.length >= MAX_FILES;
      if (kind < (isFull ? 2 : 15)) {
        yield this.#put(inventPath(random), inventLines(random));
        continue;
      }
      const path = this.#pickPath(topic);
      if (path === undefined) continue;
      const lines = this.#files.get(path)!;
      if (kind < 20) yield this.#remove(path);
      // Writes the edited lines to a new path after the old path was deleted. Git detects this as a rename.
      if (kind >= 17) yield this.#put(kind < 20 ? inventPath(random) : path, editLines(random, lines));
    }
    this.#tip = mark;
  }

  *commitToTopic(mark: number, topic: Topic): Generator<string> {
    yield* this.#head('topic', mark, topic.tip);
    const path = this.#pickPath(topic) ?? inventPath(this.random);
    const known = this.#files.get(path);
    const lines = known ? editLines(this.random, known) : inventLines(this.random);
    topic.changed.set(path, lines);
    yield modify(path, lines);
    topic.tip = mark;
    topic.left -= 1;
  }

  *merge(mark: number, topic: Topic): Generator<string> {
    yield* this.#head('main', mark, this.#tip, topic.tip);
    for (const [path, lines] of topic.changed) yield this.#put(path, lines);
    this.#tip = mark;
    yield `reset refs/heads/topic\nfrom ${'0'.repeat(40)}\n\n`;
  }

  *release(mark: number): Generator<string> {
    const version = `v${Math.floor(mark / 1000)}.${(mark / 100) % 10}`;
    yield `tag ${version}\nfrom :${this.#tip}\ntagger ${personOf(mark)}\n${data(`Release ${version}\n`)}`;
    if (mark % 1000 === 0) yield `reset refs/heads/release-${mark / 1000}\nfrom :${this.#tip}\n\n`;
  }

  *#head(branch: string, mark: number, parent: number, merged?: number): Generator<string> {
    const person = personOf(mark);
    yield `commit refs/heads/${branch}\nmark :${mark}\nauthor ${person}\ncommitter ${person}\n`;
    yield data(inventMessage(this.random, mark));
    if (parent > 0) yield `from :${parent}\n`;
    if (merged !== undefined) yield `merge :${merged}\n`;
  }

  /**
   * Returns the path of a random file; recently added files are more likely. Returns undefined if the topic branch has
   * changed this file.
   */
  #pickPath(topic: Topic | undefined): string | undefined {
    const path = this.#paths[this.#paths.length - 1 - pickEarly(this.random, this.#paths.length, 2)]!;
    return topic?.changed.has(path) ? undefined : path;
  }

  #put(path: string, lines: readonly string[]): string {
    if (!this.#files.has(path)) this.#paths.push(path);
    this.#files.set(path, lines);
    return modify(path, lines);
  }

  #remove(path: string): string {
    this.#files.delete(path);
    this.#paths.splice(this.#paths.indexOf(path), 1);
    return `D ${path}\n`;
  }
}

function personOf(mark: number): string {
  const name = AUTHORS[mark % AUTHORS.length]!;
  return `${name} <${name.split(' ')[0]!.toLowerCase()}@example.com> ${START + mark * 600} +0100`;
}

function modify(path: string, lines: readonly string[]): string {
  return `M 100644 inline ${path}\n${data(`${lines.join('\n')}\n`)}`;
}

function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`;
}
