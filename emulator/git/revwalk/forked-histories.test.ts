import t from 'tap';
import { unlimited } from '../../schedule/test/unlimited.js';
import { bytesOf } from '../object/bytes.js';
import { writeCommit } from '../object/commit.js';
import { BLOB, COMMIT, type Oid, TREE } from '../object/object.js';
import { writeTree } from '../object/tree.js';
import { ObjectStore } from '../odb/object-store.js';
import { randomNumbers } from '../test/random-numbers.js';
import { History } from './history.js';

const author = { name: 'A', email: 'a@example.com', seconds: 1_700_000_000, offset: '+0000' };

/**
 * Object store and the history index of its commits. If `isKept` is true, no commits are added to the store any more.
 */
interface Forked {
  readonly store: ObjectStore;
  readonly history: History;
  readonly commits: Oid[];
  readonly isKept: boolean;
}

for (const seed of [1, 2, 3]) {
  t.test(`whatever is asked first, of a store or of its forks: each says what its objects say (${seed})`, async (t) => {
    const random = randomNumbers(seed);
    let serial = 0;
    const add = ({ store, commits }: Forked): void => {
      const quarantine = store.quarantine();
      const files = Array.from({ length: 1 + random(3) }, () => random(6)).sort();
      const entries = [...new Set(files)].map((file) => {
        const oid = quarantine.write(BLOB, Buffer.from(`${file} ${random(4)}`));
        return { mode: 0o100644, name: bytesOf(`f${file}`), oid };
      });
      const tree = quarantine.write(TREE, writeTree(entries));
      // Give some commits no parents, so that they start a new history.
      const parents = commits.length === 0 || random(6) === 0 ? [] : [commits[random(commits.length)]!];
      const other = commits[random(commits.length)];
      if (parents.length > 0 && random(3) === 0 && other !== undefined && other !== parents[0]) parents.push(other);
      const message = `${serial++}`;
      commits.push(quarantine.write(COMMIT, writeCommit({ tree, parents, author, committer: author, message })));
      quarantine.publish();
    };
    const ask = async ({ store, history, commits }: Forked): Promise<void> => {
      if (commits.length === 0) return;
      const fresh = new History(store);
      const [a, b] = [commits[random(commits.length)]!, commits[random(commits.length)]!];
      const question = random(5);
      const responses = async (each: History) => {
        switch (question) {
          case 0:
            return [...each.log({ tips: [a, b] })];
          case 1:
            return [each.mergeBases(a, b), each.aheadBehind(a, b), each.commit(a)];
          case 2:
            return [...(await each.plan({ wants: [a], haves: [b] }, unlimited())).objects].sort();
          case 3:
            return [...(await each.lastModified(a, unlimited()))];
          default:
            return [...each.log({ tips: [a], path: bytesOf('f1') })];
        }
      };
      const said = await responses(history);
      if (JSON.stringify(said) !== JSON.stringify(await responses(fresh)))
        t.fail(`${a} and ${b}: question ${question}`);
    };
    const store = new ObjectStore();
    const all: Forked[] = [{ store, history: new History(store), commits: [], isKept: false }];
    for (let step = 0; step < 900; step++) {
      const one = all[random(all.length)]!;
      const what = random(12);
      if (what < 4 && !one.isKept) add(one);
      else if (what < 10) await ask(one);
      else {
        const fork = one.store.fork();
        const history = one.isKept ? one.history.fork(fork) : one.history.kept(fork);
        all.push({ store: fork, history, commits: [...one.commits], isKept: !one.isKept });
        if (all.length > 10) all.splice(1 + random(8), 1);
      }
      if (random(8) === 0 && one.commits.length > 0) await one.history.extend([one.commits.at(-1)!], unlimited());
    }
    for (const each of all) for (let count = 0; count < 10; count++) await ask(each);
    t.ok(serial > 100);
  });
}
