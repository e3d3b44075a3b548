import { Scratch } from '../git/odb/scratch.js';
import { errorLog, type Log } from '../log/log.js';
import { MemoryBudget } from '../memory/memory-budget.js';
import { MemoryCache } from '../memory/memory-cache.js';
import { Schedule } from '../schedule/schedule.js';
import { PackCache } from '../smart-http/pack-sender.js';
import type { WorldConfig } from './config.js';

/** Fraction of the limit `cacheBytes` for packs that are cached while they are being sent. */
const UNDER_WAY = 1 / 4;

export interface ProcessPorts {
  readonly log?: Log;
  readonly schedule?: Schedule;
}

/**
 * Resources that all worlds (states of emulated services) of a process share. They do not reveal to one world what
 * happens in another.
 */
export class ProcessResources {
  readonly log: Log;
  /** Scheduler that divides CPU time fairly between the requests of all object stores. */
  readonly schedule: Schedule;
  /** Budget (counter with a limit) for the memory of all stored Git and LFS objects. */
  readonly memory: MemoryBudget;
  readonly caches: MemoryCache;
  /** Cache of complete Git packs that have been sent to clients. */
  readonly packs: PackCache;
  readonly scratch = new Scratch();
  /**
   * Called before the client of a write gets its response. Returns a promise if the response must wait, because too
   * much data has not been saved to the data folder yet.
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

  /** Number of bytes in all caches. At most the limit `cacheBytes`. */
  get cachedBytes(): number {
    return this.caches.heldBytes + this.packs.growingBytes;
  }

  /** Ends all computations that are divided into time slices. */
  close(): void {
    this.schedule.close();
  }
}
