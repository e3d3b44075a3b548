import { Authenticator } from '../auth/authenticate.js';
import { packageVersion } from '../config/version.js';
import { Ids, secretOf } from '../environment/ids.js';
import { type Log, silentLog } from '../environment/log.js';
import { MemoryBudget } from '../git/memory/memory-budget.js';
import { MemoryCache } from '../git/memory/memory-cache.js';
import { ObjectStore, type ObjectStoreOptions } from '../git/odb/object-store.js';
import { Scratch } from '../git/odb/scratch.js';
import { Schedule } from '../git/schedule/schedule.js';
import { Cursors } from '../http/cursor.js';
import { RepositoryContent } from '../repositories/content.js';
import { GitService } from '../smart-http/git-service.js';
import type { WorldConfig } from './config.js';

/** The share of `cacheBytes` for packs that are being kept while they are sent. */
const UNDER_WAY = 1 / 4;

export interface EnginePorts {
  readonly log?: Log;
  readonly schedule?: Schedule;
}

/**
 * What the world works with, and what is kept only to be fast. All of it is the same, or is made anew, whatever happened
 * before, so no snapshot takes it in, and a restore goes on with it.
 */
export class Engine {
  readonly log: Log;
  /** Shares the event loop between requests; one for all object stores. */
  readonly schedule: Schedule;
  /** Shared by all that is stored: Git objects and LFS objects. */
  readonly memory: MemoryBudget;
  readonly caches: MemoryCache;
  readonly scratch = new Scratch();
  readonly gitService: GitService;
  /** Names the process in the session ids of Git conversations. */
  readonly gitSession: string;
  readonly authenticator = new Authenticator();
  readonly cursors: Cursors;
  readonly lockCursors: Cursors;
  private readonly storeOptions: ObjectStoreOptions;

  constructor({ seed, limits, fsck }: WorldConfig, ports: EnginePorts = {}) {
    this.log = ports.log ?? silentLog;
    this.schedule = ports.schedule ?? new Schedule();
    this.memory = new MemoryBudget(limits.maxHeldBytes);
    this.caches = new MemoryCache(limits.cacheBytes * (1 - UNDER_WAY));
    this.cursors = new Cursors(secretOf(seed, 'cursor'));
    this.lockCursors = new Cursors(secretOf(seed, 'lfs-lock-cursor'));
    this.gitSession = new Ids(seed).uuid('git-session');
    this.gitService = new GitService({
      agent: `repohost-emulator/${packageVersion()}`,
      fsck,
      limits: { pushBytes: limits.maxPushBytes, packCacheBytes: limits.cacheBytes * UNDER_WAY },
      cache: this.caches,
    });
    this.storeOptions = {
      caches: this.caches,
      limits: {
        packBytes: limits.maxPushBytes,
        objectBytes: limits.maxObjectBytes,
        structureBytes: limits.maxStructureBytes,
        inflatedBytes: limits.maxInflatedBytes,
        objects: limits.maxObjects,
      },
      scratch: this.scratch,
      schedule: this.schedule,
    };
  }

  /** Bytes that are kept only to be fast: at most `cacheBytes`. */
  get cachedBytes(): number {
    return this.caches.heldBytes + this.gitService.packs.growingBytes;
  }

  /** The content of a new repository. */
  createContent(): RepositoryContent {
    return new RepositoryContent(new ObjectStore({ ...this.storeOptions, budget: this.memory }));
  }

  /** Objects as they were at `mark`, apart from those they are copied from. They count once their budget is attached. */
  async copyContent({ objects }: RepositoryContent, mark: ReturnType<ObjectStore['mark']>): Promise<RepositoryContent> {
    return new RepositoryContent(await objects.copy(mark, this.storeOptions));
  }
}
