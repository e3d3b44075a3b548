import t from 'tap';
import { BLOB } from '../git/object/object.js';
import { ObjectStore } from '../git/odb/object-store.js';
import { MemoryCache } from '../memory/memory-cache.js';
import { AnswerCaches } from './answer-caches.js';
import { RepositoryContent } from './content.js';

t.test('operations share what they derive from the objects, until the objects are let go of', async (t) => {
  const caches = new MemoryCache(1024 * 1024);
  const create = () => new RepositoryContent(new ObjectStore({ caches }), new AnswerCaches(caches.group()));
  const content = create();
  const other = create();
  const answer = Buffer.from('{}');
  content.metadata.set('main', answer);
  t.equal(content.metadata.get('main'), answer);
  t.equal(other.metadata.get('main'), undefined, 'each repository has its own');
  for (const kind of ['texts', 'blames', 'metadata', 'history'] as const) {
    t.equal(content[kind], content[kind], kind);
    t.not(content[kind], other[kind], kind);
  }
  const quarantine = content.objects.quarantine();
  quarantine.write(BLOB, answer);
  quarantine.publish();
  const { budget } = content.objects.stored;
  t.ok(budget.used > 0);
  content.release();
  t.equal(budget.used, 0);
  content.metadata.set('main', answer);
  t.equal(content.metadata.get('main'), undefined);
});
