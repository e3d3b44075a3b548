import type { ClockRecord } from '@emulator/admin/clock.js';
import { get } from '../api/client.js';

export const readClock = (signal: AbortSignal): Promise<ClockRecord> => get<ClockRecord>('clock', { signal });
