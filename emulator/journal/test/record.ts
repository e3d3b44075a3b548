import { CapturedBody } from '../captured-body.js';
import type { RequestRecord } from '../record.js';
import { NO_HEAD } from '../redaction.js';

/** A record that differs from a plain one in `given`. */
export function recordOf(id: number, given: Partial<RequestRecord> = {}): RequestRecord {
  return {
    id: `req-${String(id).padStart(8, '0')}`,
    time: 0,
    took: 0,
    organization: 'demo',
    method: 'GET',
    path: '/',
    query: '',
    version: '1.1',
    operation: undefined,
    token: undefined,
    status: 200,
    code: undefined,
    origin: 'real',
    faults: [],
    why: [],
    stopped: undefined,
    git: undefined,
    head: NO_HEAD,
    weight: 100,
    body: undefined,
    answerHead: undefined,
    answer: undefined,
    outcome: 'open',
    started: 0,
    micros: 0,
    sendTime: 0,
    sequence: 0,
    ended: 0,
    retryOf: undefined,
    ...given,
  };
}

export function bodyOf(...pieces: (string | Uint8Array)[]): CapturedBody {
  const body = new CapturedBody();
  for (const piece of pieces) body.add(piece);
  return body;
}
