import t from 'tap';
import { BLOB } from '../git/object/object.js';
import { ObjectStore } from '../git/odb/object-store.js';
import { costOfBuffer, MemoryCache } from '../memory/memory-cache.js';
import { RepositoryContent } from './content.js';

t.test('operations share data derived from objects until the objects are released', async (t) => {
  const caches = new MemoryCache(1024 * 1024);
  const create = () => new RepositoryContent(new ObjectStore({ caches }), caches.group());
  const content = create();
  const other = create();
  const response = Buffer.from('{}');
  const kind = {};
  const responsesOf = ({ responses }: RepositoryContent) =>
    responses.shared(kind, () => responses.region<string, Buffer>(costOfBuffer));
  responsesOf(content).set('main', response);
  t.equal(responsesOf(content).get('main'), response);
  t.equal(responsesOf(other).get('main'), undefined, 'each repository has its own');
  t.equal(responsesOf(content), responsesOf(content));
  for (const kind of ['texts', 'responses', 'history'] as const) {
    t.equal(content[kind], content[kind], kind);
    t.not(content[kind], other[kind], kind);
  }
  const quarantine = content.objects.quarantine();
  quarantine.write(BLOB, response);
  quarantine.publish();
  const { budget } = content.objects.stored;
  t.ok(budget.used > 0);
  content.release();
  t.equal(budget.used, 0);
  responsesOf(content).set('main', response);
  t.equal(responsesOf(content).get('main'), undefined);
});
