import { AssertionFailure, isOutcome, NeedsSetUp } from './outcomes.js';
import { RuleContext } from './rule-context.js';

/**
 * Creates a fixture (prepared state of the target, such as a repository) that a rule needs. The requests run in a
 * separate context, so they are not evidence for the rule. If the creation fails, the failure is recorded once per run.
 * `NeedsSetUp` is then thrown, so all rules that need the fixture get the verdict `blocked`.
 *
 * - `step`: name of the fixture.
 * - `attempt`: number of the attempt, from 1. A retry uses a different prefix for its repository names.
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
