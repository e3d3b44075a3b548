import type { Row } from '../requests/entry.js';

/** Returns a row of the request list with the given values, and defaults for all others. */
export function rowWith(given: Partial<Row>): Row {
  return {
    id: 'req-00000001',
    at: '2026-01-01T00:00:00.000Z',
    method: 'GET',
    operation: undefined,
    status: 200,
    code: undefined,
    origin: 'real',
    outcome: 'complete',
    started: 0,
    duration: 1,
    began: 0,
    retryOf: undefined,
    target: '/api/v1/repo',
    repository: undefined,
    subject: undefined,
    sender: undefined,
    userAgent: undefined,
    command: undefined,
    sent: 0,
    received: 0,
    ...given,
  };
}

/** Returns rows with these starts and durations in milliseconds. Their ids are `req-00000001` and following. */
export function rowsAt(
  times: readonly (readonly [started: number, duration: number])[],
  given: Partial<Row> = {},
): Row[] {
  return times.map(([started, duration], at) =>
    rowWith({ id: `req-${String(at + 1).padStart(8, '0')}`, started, duration, began: started, ...given }),
  );
}
