import type { ConnectedFault, ConnectedNamespace, Fault, FaultHandle, Namespace } from '../index.js';
import type { ClientRuleId } from '../journal/client-rules/ids.js';
import { checkFault } from '../journal/verify.js';
import { printable } from '../log/log.js';

/** Fault (deliberate failure of a response) that a test injects, with the handle that counts how often it fired. */
export interface PlannedFault {
  readonly spec: string | Fault;
  readonly handle: FaultHandle | ConnectedFault;
}

interface EndedTestFacts {
  readonly namespace: Namespace | ConnectedNamespace;
  readonly initialFaults: readonly string[];
  readonly planned: readonly PlannedFault[];
}

/**
 * Returns the reasons why a test that passed its own assertions should fail: faults that the test injected and that did
 * not fire, even if it removed them; unmet expectations of running scenarios; and rules that its HTTP client broke.
 */
export async function failureReasons(
  test: EndedTestFacts,
  client: true | readonly ClientRuleId[] | undefined,
): Promise<string[]> {
  const { namespace, initialFaults, planned } = test;
  const known = new Set([...initialFaults, ...planned.map(({ handle }) => `faults.${handle.id}`)]);
  const verified = await namespace.verify({ faults: { everyFired: true }, ...(client && { client }) });
  const unfired = (await Promise.all(planned.map(checkPlanned))).flat();
  const faults = [...unfired, ...verified.unmet.filter(({ at }) => !known.has(at))];
  const broken = verified.client.filter(({ level, verdict }) => level === 'must' && verdict === 'broken');
  return [
    ...faults.map(({ at, detail }) => (at.startsWith('scenarios.') ? `${at}: ${detail}` : detail)),
    ...broken.flatMap(({ rule, title, faults: requests }) => [
      `The client breaks the rule ${rule}: ${title}.`.replace(/\.\.$/, '.'),
      ...requests.map(({ request, earlier, detail }) => {
        const behind = earlier === undefined ? '' : ` after ${earlier}`;
        return `  ${request}${behind}: ${detail}`;
      }),
    ]),
  ].map(printable);
}

async function checkPlanned({ spec, handle }: PlannedFault) {
  const { id } = handle;
  const fired = await handle.fired;
  if (typeof spec === 'string') return checkFault({ id, text: spec, fired });
  const text = spec.note ?? JSON.stringify(spec.do ?? spec.sequence);
  return checkFault({ id, text, fired, expected: spec.expect?.fired });
}
