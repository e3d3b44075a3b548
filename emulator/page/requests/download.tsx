import { useState } from 'preact/hooks';
import { send } from '../api/client.js';
import { ActionButton } from '../components/action.js';
import { Dialog } from '../components/dialog.js';
import { Facts } from '../components/facts.js';
import { Given } from '../components/given.js';
import { type Entry, holdsText, rowOf } from './entry.js';
import { type Filter, writeFilter } from './filter.js';

/** Form in which the selected requests are downloaded. */
interface Format {
  /** Value of the parameter `format` of `GET requests`. */
  readonly format: string;
  readonly label: string;
  readonly about: string;
  readonly file: string;
  /**
   * Returns the content of the file with only the requests that `isWanted` accepts. Throws if this is not possible. It
   * is called only if the filter has words that the emulator does not apply.
   */
  readonly select: (response: Response, isWanted: (entry: Entry) => boolean, query: Filter) => Promise<Blob>;
}

const FORMATS: readonly Format[] = [
  {
    format: 'har',
    label: 'HAR',
    about: 'HTTP Archive, which browsers and HTTP tools open',
    file: 'requests.har',
    select: async (response, isWanted, query) => {
      // The texts of an entry cannot be read from the archive, because it has another form. So the page reads the
      // requests once more, without their bodies.
      const entries = await send('GET', 'requests', { query: { ...query, format: 'ndjson', bodies: false } });
      const ids = new Set((await linesOf(entries, isWanted)).map((line) => (JSON.parse(line) as Entry).id));
      const archive = (await response.json()) as { log: { entries: readonly { _emulator: { id: string } }[] } };
      const selected = archive.log.entries.filter(({ _emulator: { id } }) => ids.has(id));
      return new Blob([JSON.stringify({ log: { ...archive.log, entries: selected } })]);
    },
  },
  {
    format: 'ndjson',
    label: 'NDJSON',
    about: 'one journal entry per line, for scripts',
    file: 'requests.ndjson',
    select: async (response, isWanted) => new Blob((await linesOf(response, isWanted)).map((line) => `${line}\n`)),
  },
  {
    format: 'scenario',
    label: 'Scenario',
    about: 'YAML file that makes the same operations fail in the same order',
    file: 'scenario.yaml',
    select: async () => {
      throw new Error(
        'A scenario can only be made with named filters, such as status=5xx. Remove the words without a name.',
      );
    },
  },
];

/** Button that opens a dialog to download the requests that the filter selects. */
export function Download({ filter }: { readonly filter: Filter }) {
  const [isOpen, setOpen] = useState(false);
  const words = writeFilter(filter);
  return (
    <>
      <button type="button" class="small" onClick={() => setOpen(true)}>
        Download…
      </button>
      {isOpen && (
        <Dialog title="Download requests" onClose={() => setOpen(false)}>
          <p>
            {words === '' ? (
              'All requests of the journal, oldest first.'
            ) : (
              <>
                The requests of the journal that match{' '}
                <code>
                  <Given text={words} />
                </code>
                , oldest first.
              </>
            )}
          </p>
          <Facts
            class="formats"
            facts={FORMATS.map((one) => [
              <ActionButton key={one.format} act={() => download(one, filter)}>
                {one.label}
              </ActionButton>,
              one.about,
            ])}
          />
        </Dialog>
      )}
    </>
  );
}

async function download({ format, file, select }: Format, { text, ...query }: Filter): Promise<void> {
  // The request is sent first, so that the emulator reports errors in the filter.
  const response = await send('GET', 'requests', { query: { ...query, format } });
  const isWanted = (entry: Entry) => text === undefined || holdsText(rowOf(entry), text);
  const content = await (text === undefined ? response.blob() : select(response, isWanted, query));
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = file;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Returns the lines of an NDJSON response whose entries are wanted. */
async function linesOf(response: Response, isWanted: (entry: Entry) => boolean): Promise<string[]> {
  const lines: string[] = [];
  const decoder = new TextDecoder();
  let rest = '';
  const take = (line: string) => line !== '' && isWanted(JSON.parse(line) as Entry) && lines.push(line);
  for await (const chunk of response.body!) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = parts.pop()!;
    for (const line of parts) take(line);
  }
  take(rest);
  return lines;
}
