import { AssertionFailure, isOutcome, NeedsSetUp } from './outcomes.js';
import { RuleContext } from './rule-context.js';

/**
 * Creates a fixture of a rule in its own context: its requests are not evidence of the rule, and their failures are not
 * verdicts about it. If it fails, the failure is reported once per run, and `NeedsSetUp` is thrown so that dependent
 * rules are blocked.
 */
export async function setUp<Made>(
  t: RuleContext,
  step: string,
  make: (maker: RuleContext) => Promise<Made>,
  attempt = 1,
): Promise<Made> {
  const prefix = attempt === 1 ? t.run.prefix : `${t.run.prefix}-try${attempt}`;
  const maker = new RuleContext({ id: `fixture ${step}`, group: step }, { ...t.run, prefix });
  try {
    return await t.stopwatch.wait(() => make(maker));
  } catch (error) {
    if (isOutcome(error) && !(error instanceof AssertionFailure)) throw error;
    const { brokenSteps } = t.run;
    if (!brokenSteps.has(step)) brokenSteps.set(step, { thrown: error, exchanges: maker.exchanges });
    throw new NeedsSetUp(step);
  }
}
