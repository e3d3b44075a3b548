import { XMLParser, XMLValidator } from 'fast-xml-parser';
import t from 'tap';
import { reporterOf } from './reporters.js';
import { type Report, VERDICTS } from './results.js';
import { HOSTILE, hostileResult, reportWith, resultOf } from './test/sample-report.js';

interface ReadCase {
  readonly '@name': string;
  readonly '@classname': string;
  readonly failure?: readonly { readonly '@message': string; readonly '#text': string }[];
  readonly error?: readonly unknown[];
  readonly skipped?: readonly { readonly '@message': string }[];
  readonly 'system-out'?: readonly string[];
}

const LISTS = ['testsuite', 'testcase', 'failure', 'error', 'skipped', 'system-out'];

/** Renders a report as JUnit XML, and parses the result with an XML parser, which rejects invalid XML. */
function read(report: Report) {
  const text = reporterOf('junit', false)(report);
  const problem = XMLValidator.validate(text);
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '@',
    isArray: (name) => LISTS.includes(name),
    trimValues: false,
  });
  const { testsuites } = parser.parse(text);
  const suites = testsuites.testsuite as readonly {
    readonly '@name': string;
    readonly testcase: readonly ReadCase[];
  }[];
  const cases = suites.flatMap(({ testcase }) => testcase);
  return { text, problem, head: testsuites, suites, cases };
}

t.test('a JUnit reader counts the correct numbers of failures, errors and skipped rules', async (t) => {
  const { problem, head, cases } = read(reportWith(VERDICTS.map((verdict) => resultOf(verdict))));
  t.equal(problem, true);
  const named = (kind: keyof ReadCase) => cases.filter((one) => one[kind] !== undefined).map((one) => one['@name']);
  t.same(named('failure'), ['rule.fail', 'rule.flaky']);
  t.same(named('error'), ['rule.error']);
  t.same(named('skipped'), ['rule.skip', 'rule.blocked']);
  t.match(head, { '@tests': '9', '@failures': '2', '@errors': '1', '@skipped': '2' });
});

t.test('a strict run counts warnings and variants as failures', async (t) => {
  const rules = (['pass', 'warn', 'variant'] as const).map((verdict) => resultOf(verdict));
  t.equal(read(reportWith(rules, { mode: { write: true, strict: true } })).head['@failures'], '2');
  t.equal(read(reportWith(rules)).head['@failures'], '0');
});

t.test('each section is a test suite with the number of its cases', async (t) => {
  const { suites } = read(reportWith([resultOf('pass', 'a', { section: 'Keys' }), resultOf('fail', 'b')]));
  t.same(
    suites.map((suite) => [suite['@name'], suite.testcase.length]),
    [
      ['Keys', 1],
      ['Errors', 1],
    ],
  );
});

t.test('the XML is well-formed whatever text the target sends', async (t) => {
  const { text, problem, cases } = read(
    reportWith([hostileResult('fail'), hostileResult('skip'), hostileResult('warn')]),
  );
  t.equal(problem, true);
  const odd = [...text].filter((one) => !/[\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u.test(one));
  t.same(odd, [], 'only characters that XML allows');
  t.notMatch(text.replace(/<\?xml.*|<\/?(testsuites?|testcase|failure|skipped|system-out)\b/g, ''), '<');
  const [failed] = cases;
  t.match(failed?.failure?.[0]?.['#text'], 'document.title=');
  t.match(failed?.failure?.[0]?.['#text'], 'unproven');
  t.match(failed?.failure?.[0]?.['#text'], 'differs in: query ref');
  t.match(HOSTILE, '\u0000', 'there was something to replace');
});

t.test('an incomplete run is not successful in JUnit', async (t) => {
  const pass = resultOf('pass');
  t.equal(read(reportWith([pass], { interrupted: true })).head['@failures'], '1', 'interrupted');
  t.equal(read(reportWith([resultOf('skip')])).head['@failures'], '1', 'nothing was checked');
  t.equal(read(reportWith([pass, resultOf('blocked')])).head['@failures'], '1', 'throttled');
  t.equal(read(reportWith([pass])).head['@failures'], '0');
});
