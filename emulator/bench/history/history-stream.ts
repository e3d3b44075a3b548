import { editLines, inventLines, inventMessage, inventPath } from './code-text.js';
import { Random } from './random.js';

export interface HistoryOptions {
  readonly commits: number;
  readonly seed?: number;
}

/** Maximum number of files. Beyond it, files are replaced instead of added. */
const MAX_FILES = 5000;
const AUTHORS = ['Ada Moss', 'Björn Ek', 'Chidi Obi', 'Dana Roth', 'Eli Sato'];
const START = 1_600_000_000;

/**
 * Generates the history of a software project as a stream for `git fast-import`: files in folders that are edited,
 * added, renamed and deleted, topic branches that are merged, annotated tags and release branches. The same options
 * give the same bytes. Format: git-fast-import(1), section "Input format".
 */
export function* historyStream({ commits, seed = 1 }: HistoryOptions): Generator<string> {
  const random = new Random(seed);
  const project = new Project(random);
  let topic: Topic | undefined;
  for (let mark = 1; mark <= commits; mark++) {
    const isLast = mark === commits;
    if (topic && (topic.left === 0 || (isLast && topic.changed.size > 0))) {
      yield* project.merge(mark, topic);
      topic = undefined;
    } else if (topic && random.chance(0.6)) {
      yield* project.commitToTopic(mark, topic);
    } else {
      if (mark > 10 && !topic && random.chance(0.12)) topic = project.startTopic(mark - 1);
      yield* project.commit(mark, topic);
    }
    if (mark % 100 === 0) yield* project.release(mark);
  }
}

/** A topic branch that will be merged. The main branch does not touch its files, so that the merge has no conflicts. */
interface Topic {
  readonly name: string;
  tip: number;
  left: number;
  readonly changed: Map<string, readonly string[]>;
}

class Project {
  readonly #files = new Map<string, readonly string[]>();
  readonly #paths: string[] = [];
  #tip = 0;
  #serial = 0;

  constructor(private readonly random: Random) {}

  /** Writes a commit on the main branch. */
  *commit(mark: number, topic: Topic | undefined): Generator<string> {
    const { random } = this;
    yield* this.#head('main', mark, this.#tip);
    for (let change = mark === 1 ? 40 : random.between(1, 3); change > 0; change--) {
      const kind = mark === 1 ? 0 : random.next();
      const isFull = this.#paths.length >= MAX_FILES;
      if (kind < (isFull ? 0.02 : 0.15)) {
        yield this.#put(this.#newPath(), inventLines(random));
        continue;
      }
      const path = this.#pickPath(topic);
      if (path === undefined) continue;
      if (kind < 0.17 && this.#paths.length > 30) yield this.#remove(path);
      else if (kind < 0.2) yield* this.#rename(path);
      else yield this.#put(path, editLines(random, this.#files.get(path)!));
    }
    this.#tip = mark;
  }

  startTopic(from: number): Topic {
    return { name: 'topic', tip: from, left: this.random.between(1, 6), changed: new Map() };
  }

  *commitToTopic(mark: number, topic: Topic): Generator<string> {
    const { random } = this;
    yield* this.#head(topic.name, mark, topic.tip);
    const path = this.#pickPath(topic) ?? this.#newPath();
    const lines = this.#files.has(path) ? editLines(random, this.#files.get(path)!) : inventLines(random);
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
    const text = `Release ${version}\n`;
    yield `tag ${version}\nfrom :${this.#tip}\ntagger ${this.#person(mark)}\n${data(text)}`;
    if (mark % 1000 === 0) yield `reset refs/heads/release-${mark / 1000}\nfrom :${this.#tip}\n\n`;
  }

  *#head(branch: string, mark: number, ...parents: number[]): Generator<string> {
    const person = this.#person(mark);
    yield `commit refs/heads/${branch}\nmark :${mark}\nauthor ${person}\ncommitter ${person}\n`;
    yield data(inventMessage(this.random, mark));
    const [first, ...others] = parents.filter((parent) => parent > 0);
    if (first !== undefined) yield `from :${first}\n`;
    for (const other of others) yield `merge :${other}\n`;
  }

  #person(mark: number): string {
    const name = AUTHORS[mark % AUTHORS.length]!;
    return `${name} <${name.split(' ')[0]!.toLowerCase()}@example.com> ${START + mark * 600} +0100`;
  }

  #newPath(): string {
    this.#serial += 1;
    return inventPath(this.random, this.#serial);
  }

  /** Returns a path, more often of a recent file than of an old one; never one that the topic changed. */
  #pickPath(topic: Topic | undefined): string | undefined {
    const count = this.#paths.length;
    if (count === 0) return undefined;
    const path = this.#paths[count - 1 - Math.floor(this.random.next() ** 2 * count)]!;
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

  *#rename(path: string): Generator<string> {
    const lines = this.#files.get(path)!;
    const target = this.#newPath();
    this.#remove(path);
    yield `R ${path} ${target}\n`;
    yield this.#put(target, this.random.chance(0.5) ? lines : editLines(this.random, lines));
  }
}

function modify(path: string, lines: readonly string[]): string {
  return `M 100644 inline ${path}\n${data(`${lines.join('\n')}\n`)}`;
}

function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`;
}
