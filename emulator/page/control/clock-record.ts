import { get } from '../api/client.js';

/** What `GET clock` answers. */
export interface Clock {
  readonly mode: 'real' | 'frozen' | 'tick';
  readonly now: string;
}

export const readClock = (signal: AbortSignal): Promise<Clock> => get<Clock>('clock', { signal });
