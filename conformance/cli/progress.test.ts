import t from 'tap';
import { resultOf } from '../report/test/sample-report.js';
import { createProgress } from './progress.js';

/**
 * Creates a progress display for a test. The display's stream records the written text. Its clock stands still until
 * the test calls `pass`.
 */
function stage(isTTY: boolean, quiet = false, columns = 80) {
  const written: string[] = [];
  let time = 0;
  const stream = { isTTY, columns, write: (text: string) => written.push(text) };
  const progress = createProgress(stream, quiet, () => time);
  t.teardown(() => progress.clear());
  return {
    progress,
    written,
    pass: (seconds: number) => {
      time += seconds * 1000;
    },
  };
}

const at = (done: number, requests: number, waitingSeconds = 0) => ({ done, total: 100, requests, waitingSeconds });

t.test('a terminal shows progress, rate, remaining time and failures on one line', async (t) => {
  const { progress, written, pass } = stage(true);
  progress.plan({ requests: 400 });
  pass(10);
  progress.show(resultOf('fail'));
  progress.move(at(20, 100));
  pass(1);
  progress.move(at(25, 110));
  t.equal(written.at(-1), '\r25/100 rules, 1 broken, 110 requests, 10.0/s, about 29 s left\x1b[K');
  t.ok(written.every((text) => text.startsWith('\r') && !text.includes('\n')));
  progress.clear();
  t.equal(written.at(-1), '\r\x1b[K', 'and takes it away');
  const { length } = written;
  progress.clear();
  t.equal(written.length, length, 'once: what is printed after it stays');
});

t.test('the progress line shows what the run waits for', async (t) => {
  const { progress, written, pass } = stage(true);
  pass(1);
  progress.move(at(1, 10, 29.5));
  t.match(written.at(-1), 'waiting 30 s, as Retry-After of the target demands');
  pass(30);
  progress.move(at(1, 11));
  t.notMatch(written.at(-1), 'waiting');
  pass(7);
  progress.move(at(1, 11));
  t.match(written.at(-1), 'waiting for a response for 7 s');
});

t.test('a line is never wider than the terminal', async (t) => {
  const { progress, written, pass } = stage(true, false, 30);
  pass(5);
  progress.move(at(50, 12345, 10));
  t.equal(written.at(-1)?.replace('\r', '').replace('\x1b[K', '').length, 29);
  const unknown = stage(true, false, 0);
  unknown.pass(5);
  unknown.progress.move(at(50, 100));
  t.match(unknown.written.at(-1), '50/100 rules, 100 requests, 20.0/s, about 5 s left', 'of one that has no width');
});

t.test('a log gets occasional lines, and none for a short run', async (t) => {
  const { progress, written, pass } = stage(false);
  for (let second = 0; second < 14; second += 1) {
    progress.move(at(second, second * 5));
    pass(1);
  }
  t.same(written, []);
  pass(2);
  progress.move(at(20, 100));
  t.same(written, ['20/100 rules, 100 requests, 6.3/s, about 1 min 4 s left\n']);
  progress.clear();
  t.equal(written.length, 1);
});

t.test('a rate-limited run first prints its estimated number of requests', async (t) => {
  const { progress, written } = stage(false);
  progress.plan({ requests: 1950, rate: 5, seconds: 390 });
  t.same(written, ['about 1950 requests, at most 5.0 a second: about 6 min 30 s\n']);
  progress.plan({ requests: 1950, rate: 5, seconds: 390, adaptive: true });
  const more = 'at most 5.0 a second unless RateLimit headers allow more';
  t.equal(written.at(-1), `about 1950 requests, ${more}: about 6 min 30 s\n`);
});

t.test('a quiet run prints nothing', async (t) => {
  const { progress, written, pass } = stage(true, true);
  progress.plan({ requests: 1950, rate: 5, seconds: 390 });
  pass(100);
  progress.show(resultOf('fail'));
  progress.move(at(1, 1, 50));
  progress.clear();
  t.same(written, []);
});
