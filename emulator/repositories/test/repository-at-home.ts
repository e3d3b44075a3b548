import { bytesOf } from '../../git/object/bytes.js';
import { ObjectStore } from '../../git/odb/object-store.js';
import type { RefChange } from '../../git/refs/ref-change.js';
import { Refs } from '../../git/refs/refs.js';
import { MemoryCache } from '../../memory/memory-cache.js';
import { RepositoryContent } from '../content.js';
import { Repository, type RepositoryHome, type RepositoryRecord } from '../repository.js';

/** Fixed time of the repository's clock, in milliseconds since 1970. */
export const NOW = 1_700_000_000_000;

/** Creates an empty repository, and records the calls that it makes to its home (owner of the repository) in `told`. */
export function createRepository(overrides: Partial<RepositoryHome> = {}) {
  const told = { moved: [] as RefChange[], failed: [] as unknown[] };
  let record: RepositoryRecord = {
    id: 'id',
    organization: 'demo',
    name: 'team/app',
    sequence: 1,
    createdAt: 0,
    state: 'active',
    refs: Refs.empty(bytesOf('main')),
    watermark: 0,
  };
  const home: RepositoryHome = {
    record: () => record,
    replace(next) {
      record = next;
    },
    hold: () => undefined,
    now: () => NOW,
    requireCurrent: () => undefined,
    moved: (_, changes) => void told.moved.push(...changes),
    failed: (_, error) => void told.failed.push(error),
    ...overrides,
  };
  return {
    repository: new Repository('id', home, new RepositoryContent(new ObjectStore(), new MemoryCache(0).group())),
    told,
  };
}
