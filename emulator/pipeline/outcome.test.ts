import vm from 'node:vm';
import t from 'tap';
import { ObjectTooLarge } from '../git/pack/pack-error.js';
import { problem } from '../http/problem.js';
import type { Log, LogLine } from '../log/log.js';
import { StoreFull } from '../memory/memory-budget.js';
import { WorkLimitExceeded } from '../schedule/meter.js';
import { ScheduleClosed } from '../schedule/schedule.js';
import { CurrentWorld } from '../world/current-world.js';
import { renderFailure } from './outcome.js';
import type { RequestContext } from './request-context.js';

function answerTo(error: unknown, signal = new AbortController().signal) {
  const log: LogLine[] = [];
  return { ...answerOf(error, { log: { write: (line) => log.push(line) } }, signal), log };
}

function answerOf(error: unknown, ports: { readonly log?: Log }, signal: AbortSignal) {
  const { world } = new CurrentWorld({ organizations: [] }, ports);
  const request = { headers: {} };
  const context = { id: 'req-1', isForAdmin: false, request, world, why: [], signal } as unknown as RequestContext;
  const { status, json, headers } = renderFailure(context, error);
  return { status, code: (json as { code: string }).code, detail: (json as { detail: string }).detail, headers };
}

t.test('a limit or shutdown that ends a request has its own response and is not a 500', async (t) => {
  const rows: [error: Error, status: number, code: string, detail: RegExp][] = [
    [new ObjectTooLarge(12, 10), 413, 'payload_too_large', /\b12\b.*\b10\b/],
    [new WorkLimitExceeded(), 504, 'gateway_timeout', /CPU time limit/],
    [new ScheduleClosed(), 503, 'service_unavailable', /shutting down/],
    [problem('not_found', 'It is not there.'), 404, 'not_found', /not there/],
  ];
  for (const [error, status, code, detail] of rows) {
    const response = answerTo(error);
    t.match(response, { status, code, detail, log: [] }, error.name);
    t.equal(response.log.length, 0, `${error.name} is not logged`);
  }
  const full = answerTo(new StoreFull(1000));
  const detail = 'Memory limit (1000 bytes) reached (--max-held-bytes).';
  t.match(full, { status: 503, code: 'service_unavailable', detail, headers: { 'retry-after': '1' } });
});

t.test('a disconnected client is not a 500', async (t) => {
  const { log, ...response } = answerTo(new DOMException('gone', 'AbortError'), AbortSignal.abort());
  t.match(response, { status: 499, code: 'request_canceled' });
  t.same(log, []);
  const failed = answerTo(new Error('gone'), AbortSignal.abort());
  t.match(failed, { status: 500, log: [{ event: 'internal_error' }] }, 'but what fails by itself is, gone or not');
});

t.test('an unexpected error is a 500 with the id of its log lines and no details', async (t) => {
  const secret = new Error('the secret is 42');
  const aborted = new DOMException('gone', 'AbortError');
  for (const [error, stack] of [
    [secret, /secret is 42[\s\S]*outcome\.test/],
    ['a text', /^a text$/],
    [aborted, /gone/],
  ] as const) {
    const { log, ...response } = answerTo(error);
    t.match(response, { status: 500, code: 'internal_error', detail: /req-1/ }, String(error));
    t.notMatch(response.detail, /42|text|gone/);
    t.match(log, [{ event: 'internal_error', request: 'req-1', stack }]);
  }
});

t.test('without a log, the cause of a 500 is printed to standard error', (t) => {
  const written = t.capture(process.stderr, 'write', () => true);
  // Create the error in another V8 context. It is then no instance of `Error` in this context.
  const foreign = vm.runInNewContext(`new TypeError('\u001b[2J is not a function')`);
  t.match(answerOf(foreign, {}, new AbortController().signal), { status: 500 });
  const [text = ''] = written().map(({ args }) => String(args[0]));
  t.match(
    text,
    /^repohost-emulator: internal error request=req-1\nTypeError: \\u\{1b\}\[2J is not a function\n +at .*\n$/s,
  );
  t.end();
});
