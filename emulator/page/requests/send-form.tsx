import { ownAddress, readAddresses } from '../api/addresses.js';
import { Form } from '../components/action.js';
import { Choice, TextField, useDraft } from '../components/fields.js';
import { Given } from '../components/given.js';
import { Failure, useLoaded } from '../components/loaded.js';
import { go, placeWith, writePlace } from '../place.js';
import type { Entry } from './entry.js';
import { NAMES } from './filter.js';
import { draftOf, notesOf, obstacleOf } from './request-draft.js';
import { sendAgain } from './send-again.js';

export interface SendFormProps {
  readonly entry: Entry;
  /** Scopes that the operation of the request needs; undefined if unknown. */
  readonly scopes: readonly string[] | undefined;
}

/**
 * Form that sends a recorded request again, after the user has edited it. The new request is then shown, and compared
 * with the recorded one.
 */
export function SendForm({ entry, scopes }: SendFormProps) {
  const obstacle = obstacleOf(entry);
  return (
    <section class="card" aria-label="Send again">
      {obstacle === undefined ? <Fields {...{ entry, scopes }} /> : <Failure error={obstacle} />}
    </section>
  );
}

function Fields({ entry, scopes }: SendFormProps) {
  const { draft, bind } = useDraft(draftOf(entry));
  const { value: addresses } = useLoaded(readAddresses, []);
  const elsewhere = addresses && otherPage(entry, addresses.orgs);
  if (elsewhere) {
    return (
      <p>
        The request was sent to the organization <Given text={entry.organization!} />, which has another address.{' '}
        <a href={elsewhere}>Open the page at that address</a> to send it again.
      </p>
    );
  }
  const send = async () => go(placeWith({ id: await sendAgain(entry, draft, scopes), compare: entry.id }));
  const { body, ...lines } = draft;
  return (
    <Form class="send-form" submit="Send" submitClass="primary" act={send}>
      <div class="fields">
        <TextField label="Method" size={8} required proposals={NAMES.method} {...bind('method')} />
        <TextField label="Path" fieldClass="grow" class="mono" required {...bind('path')} />
        <TextField label="Query" fieldClass="grow" class="mono" {...bind('query')} />
      </div>
      <TextField label="Headers, one per line" rows={lines.headers.split('\n').length + 1} {...bind('headers')} />
      {body !== undefined && (
        <TextField label="Body" rows={Math.min(16, body.split('\n').length + 1)} {...bind('body')} value={body} />
      )}
      <div class="fields">
        <Choice
          label="Token"
          options={[
            ['new', 'new, with the recorded claims'],
            ['given', 'enter a token'],
            ['none', 'none'],
          ]}
          {...bind('source')}
          onChange={(source) => bind('source').onChange(source as typeof draft.source)}
        />
        {draft.source === 'given' && <TextField label="Token to send" class="mono" required {...bind('token')} />}
      </div>
      {notesOf(entry).map((note) => (
        <p key={note} class="quiet">
          {note}
        </p>
      ))}
    </Form>
  );
}

/**
 * Returns the URL of the page of the organization to which a request was sent. Returns undefined if that is this page,
 * or if the organization has no address.
 */
function otherPage({ id, organization }: Entry, orgs: Parameters<typeof ownAddress>[0]): string | undefined {
  const address = orgs.find(({ org }) => org === organization);
  if (address === undefined || address === ownAddress(orgs)) return undefined;
  return `${address.base_url}/_emulator/${writePlace('requests', { id })}`;
}
