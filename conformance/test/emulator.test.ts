import { join } from 'node:path';
import t from 'tap';
import { run, startEmulator } from '../index.js';
import { explain } from '../report/reporter.js';

/** What the emulator gives no occasion to check: every rule that is skipped, by the reason the report gives. */
const SKIPPED: Readonly<Record<string, readonly string[]>> = {
  'the target is on this machine': ['general.https', 'general.base-url.org-subdomain'],
};

const emulator = await startEmulator();
t.teardown(() => emulator.stop());

const report = await run(emulator.target, { strict: true });

for (const result of report.rules) {
  const title = `${result.id}: ${result.says}`;
  if (result.verdict === 'skip') t.pass(title, { skip: result.reason ?? true });
  else if (['pass', 'observed'].includes(result.verdict)) t.pass(title);
  else t.fail(title, { verdict: result.verdict, why: explain(result), curl: result.curl ?? '' });
}

t.equal(report.exit_code, 0, 'the emulator conforms, strictly');

t.test('no rule is skipped but those whose occasion is missing', async (t) => {
  const skipped = report.rules.filter(({ verdict }) => verdict === 'skip').map(({ id, reason }) => `${id}: ${reason}`);
  const expected = Object.entries(SKIPPED).flatMap(([reason, ids]) => ids.map((id) => `${id}: ${reason}`));
  t.same(skipped.sort(), expected.sort());
});

t.test('what was checked says on what, and only rules of reach emulator on what a fault made', async (t) => {
  const wrong = report.rules.filter(({ verdict, evidence, reach }) =>
    verdict === 'skip' ? evidence !== undefined : evidence !== 'observed' && reach !== 'emulator',
  );
  t.same(
    wrong.map(({ id, evidence }) => `${id}: ${evidence}`),
    [],
  );
  const injected = report.rules.filter(({ evidence }) => evidence === 'injected').map(({ id }) => id);
  t.ok(injected.includes('filemeta.err.503.replica'));
  t.notOk(injected.includes('filemeta.err.429.too-many'), 'what a state or a limit brings about is observed');
});

t.test(
  'where hosting and other notes refs are switched off, that is what is checked, and the rest skipped',
  async (t) => {
    const variants = join(t.testdir({ 'variants.json': '{"customNotesRefs":"off"}' }), 'variants.json');
    const bare = await startEmulator('--hosting', 'off', '--variants', variants);
    t.teardown(() => bare.stop());
    const only = 'err.specific.hosting_*,err.specific.deployment_*,scope.read-family,version.other-names';
    const { rules } = await run(bare.target, { strict: true, only });
    t.same(Object.fromEntries(rules.map(({ id, verdict }) => [id, verdict])), {
      'err.specific.hosting_not_enabled': 'pass',
      'err.specific.hosting_project_not_found': 'skip',
      'err.specific.deployment_not_found': 'skip',
      'err.specific.deployment_project_name_in_use': 'skip',
      'scope.read-family': 'pass',
      'version.other-names': 'skip',
    });
  },
);
