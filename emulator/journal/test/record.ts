import { CapturedBody } from '../captured-body.js';
import { type RequestRecord, recordWith } from '../record.js';

/** Creates a record of a request. `given` replaces default values. */
export function recordOf(id: number, given: Partial<RequestRecord> = {}): RequestRecord {
  return recordWith({
    id: `req-${String(id).padStart(8, '0')}`,
    time: 0,
    organization: 'demo',
    method: 'GET',
    path: '/',
    status: 200,
    origin: 'real',
    faults: [],
    why: [],
    weight: 100,
    started: 0,
    ...given,
  });
}

export function bodyOf(...pieces: (string | Uint8Array)[]): CapturedBody {
  const body = new CapturedBody();
  for (const piece of pieces) body.add(piece);
  return body;
}
