import t from 'tap';
import { markdown } from './markdown.js';
import type { Report } from './results.js';
import { HOSTILE, hostileResult, reportWith, resultOf } from './test/sample-report.js';

const PASSED = [resultOf('pass'), resultOf('observed')];
const BADGE = /^!\[Conformance: ([^\]]*)\]\(https:\/\/img\.shields\.io\/badge\/[\w%.-]+\)$/m;

const badgeOf = (report: Report) => BADGE.exec(markdown(report))?.[1];

t.test('the badge shows the claimed conformance and the date', async (t) => {
  t.equal(badgeOf(reportWith(PASSED)), 'MUST and SHOULD, read and write, 2026-01-02');
  t.equal(badgeOf(reportWith([...PASSED, resultOf('warn')])), 'MUST, read and write, 2026-01-02');
  const mode = { write: false, strict: false };
  t.equal(badgeOf(reportWith(PASSED, { mode })), 'MUST and SHOULD, read only, 2026-01-02');
  t.equal(badgeOf(reportWith([...PASSED, resultOf('fail')])), '1 broken, 2026-01-02');
});

t.test('a partial run has no badge', async (t) => {
  const mode = { write: true, strict: false, only: 'grep' };
  const recording = { entries: 2, checked: 2 };
  const partial: Readonly<Record<string, Report>> = {
    'some rules': reportWith(PASSED, { mode }),
    interrupted: reportWith(PASSED, { interrupted: true }),
    throttled: reportWith([...PASSED, resultOf('blocked')]),
    'broken itself': reportWith([...PASSED, resultOf('error')]),
    'checked nothing': reportWith([resultOf('skip')]),
    'recorded traffic': reportWith(PASSED, { recording }),
  };
  for (const [what, report] of Object.entries(partial)) {
    t.equal(badgeOf(report), undefined, what);
    t.notMatch(markdown(report), /!\[/, what);
  }
});

t.test('a failure is listed with the command that repeats it', async (t) => {
  const mode = { write: true, strict: false, flags: ['--base-url', 'https://api.example', '--key', 'my key.pem'] };
  const text = markdown(
    reportWith([resultOf('fail', 'a.b', { reason: 'why', expected: 403, actual: '200' })], { mode }),
  );
  t.match(text, /### ✗ `a\.b`/);
  t.match(text, /- expected `403`\n- actual `200`/);
  t.match(text, "npx conformance run --base-url https://api.example --key 'my key.pem' --only a.b");
});

t.test('text sent by a target is escaped in Markdown', async (t) => {
  const text = markdown(reportWith([hostileResult()]));
  // Remove code blocks and inline code, because Markdown does not interpret markup inside them.
  const outside = text
    .replace(/^(`{3,})\w*\n[\s\S]*?\n\1$/gm, '')
    .replace(/<\/?(details|summary)>/g, '')
    .replace(/(`+)(?!`)[\s\S]*?[^`]\1(?!`)/g, '');
  t.notMatch(outside, /</);
  t.notMatch(outside, /(?<!\\)\|.*cell/);
  t.match(text, 'document.title=');
  t.notMatch(text, '\u0000');
  t.match(HOSTILE, '```', 'there was a fence to get out of');
});

t.test('of many failures the first ones are shown in full, and all ids are listed', async (t) => {
  const rules = Array.from({ length: 600 }, (_, at) => hostileResult('fail', `rule.n${at}`));
  const text = markdown(reportWith(rules));
  t.ok(Buffer.byteLength(text) < 1024 * 1024, 'a step summary of GitHub holds it');
  for (const { id } of rules) if (!text.includes(`\`${id}\``)) t.fail(id);
  t.match(text, '`rule.n599`');
});
