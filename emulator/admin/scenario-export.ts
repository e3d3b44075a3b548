import { problem } from '../http/problem.js';
import { bytes, type Reply } from '../http/reply.js';
import type { JournalEntry } from '../journal/entry.js';
import { toHar } from '../journal/export.js';
import type { RequestRecord } from '../journal/record.js';
import { runYielding, type Steps } from '../schedule/steps.js';
import type { AdminContext } from './route.js';

/**
 * Maximum length of the HTTP Archive that is converted to a scenario, in characters. The limit is needed because the
 * conversion blocks other requests.
 */
const MAX_ARCHIVE_LENGTH = 16 * 1024 * 1024;

/** Work units for each character of the archive. */
const CHARACTER_COST = 1 / 128;

/**
 * Returns a scenario, as YAML, that reproduces the failures of the selected requests. It is the scenario that `emulator
 * scenario from-har` makes of the HTTP Archive of these requests. Throws `bad_request` if the requests have no failure.
 */
export async function exportScenario(
  { world, operations, meter }: AdminContext,
  select: (record: RequestRecord) => boolean,
): Promise<Reply> {
  const { journal } = world.state;
  const text = await runYielding(archiveSteps(journal.entries(select), journal.dropped), meter);
  const [{ scenarioFromHar }, { ScenarioError }, { stringify }] = await Promise.all([
    import('../scenarios/from-har.js'),
    import('../scenarios/scenario-file.js'),
    import('yaml'),
  ]);
  try {
    const { scenario } = scenarioFromHar(text, 'requests', operations);
    return bytes(200, Buffer.from(stringify(scenario, { lineWidth: 120 })), {
      'content-type': 'application/yaml',
      'x-emulator-dropped': String(journal.dropped),
    });
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    throw problem('bad_request', `The selected requests cannot become a scenario. ${error.message}`);
  }
}

function* archiveSteps(entries: Iterable<JournalEntry>, dropped: number): Steps<string> {
  let text = '';
  for (const piece of toHar(withoutUnused(entries), dropped)) {
    text += piece;
    if (text.length > MAX_ARCHIVE_LENGTH) {
      throw problem(
        'bad_request',
        'The selected requests are too many for a scenario. Select fewer with filters, such as status=4xx,5xx.',
      );
    }
    yield piece.length * CHARACTER_COST;
  }
  return text;
}

/** Removes the bodies that a scenario does not need: those of requests, and those of successful responses. */
function* withoutUnused(entries: Iterable<JournalEntry>): IterableIterator<JournalEntry> {
  for (const entry of entries) {
    const { body: _, ...request } = entry.request;
    const { body: __, ...answer } = entry.answer;
    yield { ...entry, request, answer: entry.status < 400 ? answer : entry.answer };
  }
}
