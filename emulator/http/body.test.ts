import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import t from 'tap';
import { z } from 'zod';
import { runSync, type Steps } from '../schedule/steps.js';
import { type BodyOptions, checkItems, checkShape, readBody, shapeSteps } from './body.js';
import type { Problem } from './problem.js';

const FILE = z.object({ path: z.string() });
const COMMIT = z.object({ files: z.array(FILE).optional(), labels: z.record(z.string(), z.number()).nullable() });

const files = (count: number) => Array.from({ length: count }, (_, n): object => ({ path: `f${n}` }));
const labels = (count: number) => Object.fromEntries(files(count).map((_, n): [string, unknown] => [`l${n}`, n]));

function detailOf(call: () => unknown): string {
  try {
    call();
    return 'passed';
  } catch (error) {
    return (error as Problem).detail;
  }
}

/** Runs all steps of a task. Returns its result, and the cost of each step in units of work. */
function inSteps<T>(steps: Steps<T>): { value: T; units: number[] } {
  const units: number[] = [];
  for (;;) {
    const step = steps.next();
    if (step.done) return { value: step.value, units };
    units.push(step.value);
  }
}

t.test('an issue is reported with its path, in lists and records of any length', async (t) => {
  const check = (value: unknown) => detailOf(() => checkShape(COMMIT, value, 'The body'));
  for (const count of [1, 3, 99, 100, 101, 1000]) {
    t.equal(check({ files: files(count), labels: labels(count) }), 'passed', `${count}`);
    for (const at of new Set([0, Math.floor(count / 2), count - 1])) {
      const list = files(count);
      list[at] = { path: at };
      t.match(check({ files: list, labels: null }), new RegExp(`^files\\.${at}\\.path: `), `${at} of ${count} files`);
      const record = { ...labels(count), [`l${at}`]: 'x' };
      t.match(check({ files: [], labels: record }), new RegExp(`^labels\\.l${at}: `), `${at} of ${count} labels`);
    }
  }
  t.match(check({ files: files(200), labels: 'x' }), /^labels: /, 'after a long valid list');
  t.match(check('text'), /^The body: /);
  t.equal(check(undefined), 'The body is required.');
  t.same(checkShape(COMMIT, { files: files(200), labels: null, more: 1 }, 'x'), { files: files(200), labels: null });
});

t.test('items that are checked one by one get the same errors as those of a list', async (t) => {
  const check = (items: unknown[]) => detailOf(() => runSync(checkItems(FILE, items, 'files')));
  t.same(runSync(checkItems(FILE, files(200), 'files')), files(200));
  t.match(check([...files(130), { path: 1 }]), /^files\.130\.path: /);
  t.match(check([null]), /^files\.0: /);
  t.match(check([...files(2), undefined]), /^files\.2: /);
});

t.test('long lists and records are checked in short slices of work', async (t) => {
  const count = 10_000;
  const works: Record<string, Steps<unknown>> = {
    items: checkItems(FILE, files(count), 'files'),
    list: shapeSteps(COMMIT, { files: files(count), labels: null }, 'The body'),
    record: shapeSteps(COMMIT, { labels: labels(count) }, 'The body'),
  };
  for (const [what, steps] of Object.entries(works)) {
    const { units } = inSteps(steps);
    const all = units.reduce((sum, one) => sum + one, 0);
    t.ok(Math.max(...units) <= 1000, `${what}: ${Math.max(...units)} units at once`);
    t.ok(all >= 0.9 * count, `${what}: ${all} units in all, one for each at least`);
  }
});

t.test('validation stops at the first of very many issues', async (t) => {
  let looked = 0;
  const word = z.string().refine(() => {
    looked++;
    return false;
  });
  t.match(
    detailOf(() => checkShape(z.object({ words: z.array(word) }), { words: Array(100_000).fill('x') }, 'The body')),
    /^words\.0: /,
  );
  t.ok(looked <= 2, `${looked} words were looked at`);
});

t.test('a list or record that is too long is refused before its items are checked', async (t) => {
  let looked = 0;
  const word = z.string().refine(() => {
    looked++;
    return true;
  });
  const many = Object.fromEntries(Array.from({ length: 9000 }, (_, at) => [`m${at}`, 'x']));
  const record = z.record(z.string(), word).meta({ maxProperties: 1000 });
  const check = (schema: z.ZodType, value: unknown) => detailOf(() => checkShape(schema, value, 'The body'));
  t.match(check(z.object({ words: z.array(word).max(100) }), { words: Array(300_000).fill('x') }), /^words: Too big/);
  t.ok(looked <= 101, `${looked} words were looked at`);
  looked = 0;
  t.equal(check(z.object({ words: record }), { words: many }), 'words: has more than 1000 members.');
  t.equal(
    check(z.record(z.string(), z.object({ words: record })), { a: { words: many } }),
    'a.words: has more than 1000 members.',
  );
  t.match(check(record, Array(300_000).fill('x')), /^The body: /);
  t.equal(looked, 0);
  const unknown = check(
    z.lazy(() => z.strictObject({ known: word })),
    { ...many, known: 'x' },
  );
  t.equal(unknown, 'The body: Unrecognized key: "m0"', 'one of thousands of unknown names is reported');
  t.same(checkShape(z.looseObject({}), many, 'x'), many);
});

/**
 * Reads a request body that arrives in these pieces. Returns its length in bytes, or the error code if reading fails.
 */
async function read(
  pieces: Iterable<Buffer> | AsyncIterable<Buffer>,
  {
    headers = {},
    complete = true,
    ...options
  }: Partial<BodyOptions & Pick<IncomingMessage, 'headers' | 'complete'>> = {},
): Promise<number | string> {
  const request = Object.assign(Readable.from(pieces), { headers, complete }) as unknown as IncomingMessage;
  try {
    return (await readBody(request, { maxBytes: 10, idleTimeout: 60_000, ...options })).length;
  } catch (error) {
    return (error as Problem).code;
  }
}

const pieces = (...sizes: number[]) => sizes.map((size) => Buffer.alloc(size));

t.test('a body may be as long as the limit, with and without Content-Length', async (t) => {
  t.equal(await read(pieces(10)), 10);
  t.equal(await read(pieces(4, 3, 3)), 10);
  t.equal(await read(pieces()), 0);
  t.equal(await read(pieces(11)), 'payload_too_large');
  t.equal(await read(pieces(4, 3, 4)), 'payload_too_large');
  let calls = 0;
  const onBeforeRead = () => calls++;
  t.equal(await read(pieces(11), { headers: { 'content-length': '11' }, onBeforeRead }), 'payload_too_large');
  t.equal(calls, 0, 'a body with a Content-Length above the limit is not requested');
  t.equal(await read(pieces(10), { headers: { 'content-length': '10' }, onBeforeRead }), 10);
  t.equal(calls, 1);
});

t.test('an incomplete body is request_canceled or request_timeout, or throws the error of its stream', async (t) => {
  let end: NodeJS.Timeout | undefined;
  const stopped = new Promise((resolve) => {
    end = setTimeout(resolve, 20_000);
  });
  t.teardown(() => clearTimeout(end));
  async function* failing(error: Error) {
    yield Buffer.alloc(1);
    throw error;
  }
  async function* stopping() {
    yield Buffer.alloc(1);
    await stopped;
  }
  const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET' });
  t.equal(await read(failing(reset)), 'request_canceled', 'the connection was reset');
  t.equal(await read(failing(Object.assign(new Error('aborted'), { code: 'ABORT_ERR' }))), 'request_canceled');
  t.equal(
    await read(pieces(5), { complete: false }),
    'request_canceled',
    'the body is shorter than its Content-Length',
  );
  t.equal(await read(stopping(), { idleTimeout: 1, complete: false }), 'request_timeout');
  t.equal(
    await read(failing(Object.assign(new Error('disk'), { code: 'EIO' }))),
    'EIO',
    'any other error is thrown as it is',
  );
});
