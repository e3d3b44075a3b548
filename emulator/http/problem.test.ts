import t from 'tap';
import { problemCodes } from './problem.js';

t.test('every status without a specific code carries the generic code the specification lists', async (t) => {
  const generic: Record<number, string> = {
    400: 'bad_request',
    401: 'unauthorized',
    403: 'forbidden',
    404: 'not_found',
    405: 'method_not_allowed',
    408: 'request_timeout',
    409: 'conflict',
    412: 'precondition_failed',
    413: 'payload_too_large',
    422: 'unprocessable_entity',
    429: 'rate_limited',
    499: 'request_canceled',
    500: 'internal_error',
    501: 'not_implemented',
    502: 'bad_gateway',
    503: 'service_unavailable',
    504: 'gateway_timeout',
  };
  for (const [status, code] of Object.entries(generic)) {
    t.match(
      problemCodes().find((row) => row.code === code),
      { status: Number(status) },
      code,
    );
  }
});
