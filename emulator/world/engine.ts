import { Authenticator } from '../auth/authenticate.js';
import { packageVersion } from '../config/version.js';
import { ObjectStore, type ObjectStoreOptions } from '../git/odb/object-store.js';
import { Cursors } from '../http/cursor.js';
import { Ids, secretOf } from '../ids/ids.js';
import type { Log } from '../log/log.js';
import type { MemoryBudget } from '../memory/memory-budget.js';
import { type KeptContent, RepositoryContent } from '../repositories/content.js';
import type { Schedule } from '../schedule/schedule.js';
import { GitService } from '../smart-http/git-service.js';
import type { WorldConfig } from './config.js';
import type { ProcessResources } from './process-resources.js';

/**
 * Services and caches of a world (state of an emulated service). Clients cannot observe them, so snapshots do not
 * contain them, and a restore does not replace them.
 */
export class Engine {
  readonly gitService: GitService;
  /** Id of this process. The `session-id` that the service sends to Git clients begins with it. */
  readonly gitSession: string;
  readonly authenticator = new Authenticator();
  readonly cursors: Cursors;
  readonly lockCursors: Cursors;
  private readonly storeOptions: ObjectStoreOptions;

  constructor(
    { seed, limits, fsck }: WorldConfig,
    readonly resources: ProcessResources,
  ) {
    const { caches, memory, packs, schedule, scratch } = resources;
    this.cursors = new Cursors(secretOf(seed, 'cursor'));
    this.lockCursors = new Cursors(secretOf(seed, 'lfs-lock-cursor'));
    this.gitSession = new Ids(seed).uuid('git-session');
    this.gitService = new GitService({
      agent: `repohost-emulator/${packageVersion()}`,
      fsck,
      limits: { pushBytes: limits.maxPushBytes },
      packs,
    });
    this.storeOptions = {
      budget: memory,
      caches,
      limits: {
        packBytes: limits.maxPushBytes,
        objectBytes: limits.maxObjectBytes,
        structureBytes: limits.maxStructureBytes,
        inflatedBytes: limits.maxInflatedBytes,
        objects: limits.maxObjects,
      },
      scratch,
      schedule,
    };
  }

  get log(): Log {
    return this.resources.log;
  }

  get schedule(): Schedule {
    return this.resources.schedule;
  }

  get memory(): MemoryBudget {
    return this.resources.memory;
  }

  get cachedBytes(): number {
    return this.resources.cachedBytes;
  }

  /** Creates the empty content (object store and caches) of a new repository. */
  createContent(): RepositoryContent {
    return new RepositoryContent(new ObjectStore(this.storeOptions), this.resources.caches.group());
  }

  /**
   * Creates a repository's content (object store and caches) that starts with the Git objects of `kept`. `schedule`
   * runs and measures the work of reading these objects.
   */
  forkContent(kept: KeptContent, schedule = this.schedule): RepositoryContent {
    return kept.fork({ ...this.storeOptions, schedule });
  }
}
