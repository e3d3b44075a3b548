import { Scratch } from '../git/odb/scratch.js';
import { errorLog, type Log } from '../log/log.js';
import { MemoryBudget } from '../memory/memory-budget.js';
import { MemoryCache } from '../memory/memory-cache.js';
import { Schedule } from '../schedule/schedule.js';
import { PackCache } from '../smart-http/pack-sender.js';
import type { WorldConfig } from './config.js';

/** The share of `cacheBytes` for packs that are being kept while they are sent. */
const UNDER_WAY = 1 / 4;

export interface ProcessPorts {
  readonly log?: Log;
  readonly schedule?: Schedule;
}

/** What there is once in a process, however many worlds it has: none of them can tell from it what another does. */
export class ProcessResources {
  readonly log: Log;
  /** Shares the event loop between requests; one for all object stores. */
  readonly schedule: Schedule;
  /** Shared by all that is stored: Git objects and LFS objects. */
  readonly memory: MemoryBudget;
  readonly caches: MemoryCache;
  /** Finished packs. */
  readonly packs: PackCache;
  readonly scratch = new Scratch();
  /**
   * Called before a write is acknowledged. A promise means that the acknowledgement has to wait, because too much is not yet
   * saved to a folder.
   */
  beforeAcknowledgement: () => Promise<void> | undefined = () => undefined;

  constructor(
    { limits }: Pick<WorldConfig, 'limits'>,
    { log = errorLog, schedule = new Schedule() }: ProcessPorts = {},
  ) {
    this.log = log;
    this.schedule = schedule;
    this.memory = new MemoryBudget(limits.maxHeldBytes);
    this.caches = new MemoryCache(limits.cacheBytes * (1 - UNDER_WAY));
    this.packs = new PackCache(this.caches, limits.cacheBytes * UNDER_WAY);
  }

  /** Bytes that are kept only to be fast: at most `cacheBytes`. */
  get cachedBytes(): number {
    return this.caches.heldBytes + this.packs.growingBytes;
  }

  /** Ends all work that goes in slices. */
  close(): void {
    this.schedule.close();
  }
}
