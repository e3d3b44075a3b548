import t from 'tap';
import { respondConditionally } from './conditional.js';
import type { Problem } from './problem.js';

t.test('preconditions and ranges follow RFC 9110', async (t) => {
  const representation = { etag: '"abc"', lastModified: 1_000_000, body: Buffer.from('0123456789'), headers: {} };
  const request = (
    headers: Record<string, string>,
    method = 'GET',
  ): { status: number; bytes?: Uint8Array; headers?: object } => {
    try {
      return respondConditionally(representation, (name) => headers[name], method);
    } catch (error) {
      const { status, options } = error as Problem;
      return { status, headers: options.headers! };
    }
  };
  const before = new Date(999_999_000).toUTCString();
  const after = new Date(1_000_001_000).toUTCString();
  const exact = new Date(1_000_000_000).toUTCString();
  const cases: [Record<string, string>, number, string?][] = [
    [{}, 200, '0123456789'],
    [{ 'if-none-match': '"abc"' }, 304],
    [{ 'if-none-match': 'W/"abc"' }, 304],
    [{ 'if-none-match': '"x", "abc"' }, 304],
    [{ 'if-none-match': '*' }, 304],
    [{ 'if-none-match': '"x"' }, 200],
    [{ 'if-match': '"x"' }, 412],
    [{ 'if-match': 'W/"abc"' }, 412],
    [{ 'if-match': '"abc"' }, 200],
    [{ 'if-match': '*' }, 200],
    [{ 'if-modified-since': exact }, 304],
    [{ 'if-modified-since': before }, 200],
    [{ 'if-none-match': '"x"', 'if-modified-since': after }, 200],
    [{ 'if-unmodified-since': before }, 412],
    [{ 'if-unmodified-since': exact }, 200],
    [{ 'if-unmodified-since': 'garbage' }, 200],
    [{ range: 'bytes=2-4' }, 206, '234'],
    [{ range: 'bytes=7-' }, 206, '789'],
    [{ range: 'bytes=-3' }, 206, '789'],
    [{ range: 'bytes=-30' }, 206, '0123456789'],
    [{ range: 'bytes=8-100' }, 206, '89'],
    [{ range: 'bytes=10-' }, 416],
    [{ range: 'bytes=-0' }, 416],
    [{ range: 'bytes=4-2' }, 200],
    [{ range: 'items=1-2' }, 200],
    [{ range: 'bytes=0-1,4-5' }, 200],
    [{ range: 'bytes=0-1', 'if-range': '"abc"' }, 206, '01'],
    [{ range: 'bytes=0-1', 'if-range': '"x"' }, 200],
    [{ range: 'bytes=0-1', 'if-range': exact }, 206, '01'],
    [{ range: 'bytes=0-1', 'if-range': before }, 200],
  ];
  for (const notDate of [
    '1970',
    '2030-01-01T00:00:00Z',
    '1 Jan 2030',
    'Thu, 01 Jan 2030 00:00:00',
    'Tue, 01 Jan 2030 00:00:00 +0000',
    'tue, 01 jan 2030 00:00:00 gmt',
    'Tue, 32 Jan 2030 00:00:00 GMT',
    'Tue, 01 Jan 2030 24:00:00 GMT',
    'Sun, 30 Feb 2030 00:00:00 GMT',
    '',
    '*',
  ]) {
    cases.push([{ 'if-modified-since': notDate }, 200], [{ 'if-unmodified-since': notDate }, 200]);
    cases.push([{ range: 'bytes=0-1', 'if-range': notDate }, 200, '0123456789']);
  }
  // Include the two obsolete date formats, because a recipient must accept them (RFC 9110, section 5.6.7).
  for (const [form, earlier] of [
    ['Monday, 12-Jan-70 13:46:40 GMT', 'Monday, 12-Jan-70 13:46:39 GMT'],
    ['Mon Jan 12 13:46:40 1970', 'Mon Jan 12 13:46:39 1970'],
  ] as const) {
    cases.push([{ 'if-modified-since': form }, 304], [{ 'if-modified-since': earlier }, 200]);
    cases.push([{ 'if-unmodified-since': form }, 200], [{ 'if-unmodified-since': earlier }, 412]);
    cases.push([{ range: 'bytes=0-1', 'if-range': form }, 206, '01']);
  }
  // Verify the order in which the server evaluates preconditions (RFC 9110, section 13.2.2).
  cases.push(
    [{ 'if-match': '"x"', 'if-none-match': '"abc"', range: 'bytes=10-' }, 412],
    [{ 'if-match': '"abc"', 'if-unmodified-since': before }, 200],
    [{ 'if-match': '"abc"', 'if-none-match': '"abc"', range: 'bytes=10-' }, 304],
    [{ 'if-unmodified-since': before, 'if-modified-since': after }, 412],
    [{ 'if-none-match': '"x"', range: 'bytes=10-' }, 416],
    [{ range: 'bytes=10-', 'if-range': '"x"' }, 200],
    [{ range: 'bytes=0-1', 'if-range': 'W/"abc"' }, 200],
  );
  for (const [headers, status, body] of cases) {
    const reply = request(headers);
    t.equal(reply.status, status, JSON.stringify(headers));
    if (body !== undefined) t.equal(Buffer.from(reply.bytes!).toString(), body);
  }
  // HEAD must evaluate preconditions but ignore `Range` (RFC 9110, section 14.2).
  for (const [headers, status] of cases) {
    const reply = request(headers, 'HEAD');
    t.equal(reply.status, status === 206 || status === 416 ? 200 : status, `HEAD ${JSON.stringify(headers)}`);
    t.notOk('content-range' in reply.headers!, 'HEAD ignores Range');
  }
  t.match(request({}).headers, {
    etag: '"abc"',
    'last-modified': 'Mon, 12 Jan 1970 13:46:40 GMT',
    'accept-ranges': 'bytes',
  });
  t.match(request({ range: 'bytes=10-' }).headers, { 'content-range': 'bytes */10' });
  t.match(request({ range: 'bytes=2-4' }).headers, { 'content-range': 'bytes 2-4/10' });
});
