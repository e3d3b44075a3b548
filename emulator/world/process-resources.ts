import { Scratch } from '../git/odb/scratch.js';
import { errorLog, type Log } from '../log/log.js';
import { MemoryBudget } from '../memory/memory-budget.js';
import { MemoryCache } from '../memory/memory-cache.js';
import { Schedule } from '../schedule/schedule.js';
import { PackCache } from '../smart-http/pack-sender.js';
import type { WorldConfig } from './config.js';

/** Fraction of `cacheBytes` for packs that are cached while they are being sent. */
const UNDER_WAY = 1 / 4;

export interface ProcessPorts {
  readonly log?: Log;
  readonly schedule?: Schedule;
}

/** Resources that all worlds of a process share. They do not reveal to one world what another does. */
export class ProcessResources {
  readonly log: Log;
  /** Shares the event loop between requests of all object stores. */
  readonly schedule: Schedule;
  /** Memory budget for stored Git and LFS objects. */
  readonly memory: MemoryBudget;
  readonly caches: MemoryCache;
  /** Cache of complete packs. */
  readonly packs: PackCache;
  readonly scratch = new Scratch();
  /**
   * Called before a write is acknowledged. Returns a promise if the acknowledgement must wait, because too much data
   * is not saved to the folder yet.
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

  /** Bytes in caches; at most `cacheBytes`. */
  get cachedBytes(): number {
    return this.caches.heldBytes + this.packs.growingBytes;
  }

  /** Ends all work that runs in time slices. */
  close(): void {
    this.schedule.close();
  }
}
