import t from 'tap';
import { type Service, type ServiceResponse, startService } from '../service.js';

// Tests cursors (tokens for the next page of a list). A cursor is valid only for one list of one repository. For files
// and commits, it also keeps the commit of the first page.

const REPO = 'team/app';
const FILES = { 'a.txt': 'alpha\n', 'b.txt': 'alpha\n', 'c.txt': 'alpha\n' };

interface List {
  readonly ask: (service: Service, cursor?: string) => Promise<ServiceResponse>;
  /** Returns texts that identify the items of a page, in order. */
  readonly items: (page: ServiceResponse['json']) => string[];
}

const get = (target: string) => (service: Service, cursor?: string) =>
  service.call('GET', `${target}&limit=1${cursor === undefined ? '' : `&cursor=${cursor}`}`, { repo: REPO });

const PINNED: Readonly<Record<string, List>> = {
  commits: {
    ask: get('/api/v1/repos/commits?branch=dev'),
    items: ({ commits }) => commits.map((c: { sha: string }) => c.sha),
  },
  files: { ask: get('/api/v1/repos/files?ref=dev'), items: ({ paths }) => paths },
  'file metadata': {
    ask: get('/api/v1/repos/files/metadata?ref=dev'),
    items: ({ files }) => files.map((f: { path: string }) => f.path),
  },
  grep: {
    ask: (service, cursor) =>
      service.call('POST', '/api/v1/repos/grep', {
        repo: REPO,
        json: { ref: 'dev', query: { pattern: 'alpha' }, pagination: { limit: 1, ...(cursor && { cursor }) } },
      }),
    items: ({ matches }) => matches.map((m: { path: string }) => m.path),
  },
};

async function follow(service: Service, { ask, items }: List, cursor: string | null): Promise<string[]> {
  const seen: string[] = [];
  for (let next = cursor; next !== null; ) {
    const { status, json, text } = await ask(service, next);
    if (status !== 200) throw new Error(text);
    seen.push(...items(json));
    next = json.next_cursor;
  }
  return seen;
}

for (const [name, list] of Object.entries(PINNED)) {
  t.test(`${name}: later pages use the commit of the first page`, async (t) => {
    const service = await startService({ variants: { metadataPagination: 'on-request' } });
    t.teardown(() => service.emulator.close({ graceMs: 0 }));
    await service.seed(REPO, FILES);
    await service.commit(REPO, { 'd.txt': 'alpha\n' }, { target_branch: 'dev', base_branch: 'main' });
    const first = await list.ask(service);
    t.equal(first.json.has_more, true);
    const before = await follow(service, list, first.json.next_cursor);
    t.ok(before.length > 0);

    await service.commit(REPO, { 'a.txt': null, 'b.txt': null, '0.txt': 'alpha\n' }, { target_branch: 'dev' });
    t.same(await follow(service, list, first.json.next_cursor), before, 'after a commit');
    await service.call('DELETE', '/api/v1/repos/branches', { repo: REPO, json: { name: 'dev' } });
    t.same(await follow(service, list, first.json.next_cursor), before, 'after the branch is gone');

    await service.call('DELETE', '/api/v1/repos/delete', { repo: REPO });
    await service.seed(REPO, FILES);
    const strange = await list.ask(service, first.json.next_cursor);
    t.equal(strange.status, 400, 'another repository of the same name did not issue it');
    t.match(strange.json.error, /cursor/);
  });
}
