import {
  countVerdicts,
  exitCodeOf,
  FORMAT,
  minCheckedOf,
  type Report,
  type RuleResult,
  type Verdict,
} from '../results.js';

/**
 * Malicious text that a server could send: HTML, terminal escape sequences, and characters that are invalid in some
 * report formats.
 */
export const HOSTILE =
  '</script><script>document.title="owned"</script><img src="http://127.0.0.1:1/x" onerror="document.title=1">' +
  ' ]]> --> &amp; "quoted" \'single\' `code` ```fence``` | cell \\ # %0A ::error::x \u0000\u0007\u001b[31m \ufffe \ud800 é 漢 🎉\n::error::y\r\n```\n<b>outside</b>\n...\n---\nBail out!';

/** Returns a rule's result with all optional members present. */
export function resultOf(verdict: Verdict, id = `rule.${verdict}`, more: Partial<RuleResult> = {}): RuleResult {
  return {
    id,
    section: 'Errors',
    says: `A rule that is ${verdict}.`,
    level: 'MUST',
    reach: 'any',
    read_only: true,
    verdict,
    milliseconds: 1,
    requests: 1,
    ...more,
  };
}

/** Returns the result of a broken rule. Each text in the result is the malicious text `HOSTILE`. */
export function hostileResult(verdict: Verdict = 'fail', id = `hostile.${verdict}`): RuleResult {
  return resultOf(verdict, id, {
    says: `A rule about ${HOSTILE}`,
    reason: HOSTILE,
    expected: { [HOSTILE]: 1 },
    actual: HOSTILE,
    observed: { [HOSTILE]: HOSTILE },
    transcript: [{ request: `GET /${HOSTILE}`, response: `200\n\n${HOSTILE}` }],
    curl: `curl '${HOSTILE}'`,
    nearest: { rule: 'rule.pass', request: `GET /${HOSTILE}`, status: 200, differs: [`query ref: ${HOSTILE}`] },
    unproven: true,
  });
}

export function reportWith(rules: readonly RuleResult[], more: Partial<Report> = {}): Report {
  const counts = countVerdicts(rules);
  const strict = more.mode?.strict ?? false;
  const mode = more.mode ?? { write: true, strict };
  const interrupted = more.interrupted ?? false;
  return {
    format: FORMAT,
    suite: { name: 'repohost-emulator conformance', version: '1.0.0' },
    specification: '1.0.0',
    started_at: '2026-01-02T03:04:05.000Z',
    milliseconds: 1234,
    target: { base_url: 'http://127.0.0.1:1', git_url: 'http://127.0.0.1:1', org: 'demo', emulator: false },
    mode: { write: true, strict },
    budget: { requests: 3 },
    requests: 3,
    throttled_seconds: 0,
    interrupted,
    notices: [],
    setup: [],
    cleanup: { made: 0, removed: 0, left: [] },
    watched: [],
    counts,
    variants: {},
    rules,
    exit_code: exitCodeOf(counts, { strict, interrupted, minChecked: minCheckedOf(mode) }),
    ...more,
  };
}
