import { AssertionFailure, isOutcome, NeedsSetUp } from './outcomes.js';
import { RuleContext } from './rule-context.js';

/**
 * Makes something that a rule rests on, in a context of its own: its requests are not those of the rule, and what is
 * wrong with them is not what the rule says. Where it breaks, that is told once for the run, and what rests on it is
 * blocked: `NeedsSetUp` is thrown.
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
