import type { Comparison } from '@emulator/admin/repository-compare.js';
import type { RefRecord } from '@emulator/admin/repository-refs.js';
import { useState } from 'preact/hooks';
import { get, route } from '../api/client.js';
import { Form } from '../components/action.js';
import { Check, TextField } from '../components/fields.js';
import { Given, GivenCell } from '../components/given.js';
import { Empty, Loading, useLoaded } from '../components/loaded.js';
import { Table } from '../components/table.js';
import { CommitTime } from '../components/time.js';
import { go, place, placeWith, writePlace } from '../place.js';
import { ChangeCounts, ChangedFiles, type FileQuery } from './changed-files.js';
import { CloneLine } from './clone-line.js';
import { commits, comparisonText } from './comparison-text.js';
import { defaultRef, type OpenedProps } from './records.js';
import { askedAs, RefChoice, shortName } from './ref-choice.js';

/**
 * Tab of a repository that compares two commits, each given by a ref or an id. It shows the commits that only the
 * second one (`head`) has, and the changed files.
 */
export function Compare({ opened }: OpenedProps) {
  const { refs, record } = opened;
  const { params } = place.value;
  const usual = defaultRef(opened);
  const base = params.base ?? (usual ? askedAs(usual) : '');
  const { head = '' } = params;
  const isDirect = params.direct === 'true';
  const change = (changes: Readonly<Record<string, string>>) => go(placeWith({ base, head, ...changes }));
  if (refs.length === 0) {
    return (
      <Empty title="Nothing to compare yet">
        <p>Branches and tags come with the first push:</p>
        <CloneLine name={record.name} />
      </Empty>
    );
  }
  return (
    <div class="compare">
      <div class="toolbar">
        <Side label="Base" refs={refs} chosen={base} onChoose={(chosen) => change({ base: chosen })} />
        <button type="button" title="Swap base and head" onClick={() => change({ base: head, head: base })}>
          <span aria-hidden="true">⇄</span>
          <span class="visually-hidden">Swap base and head</span>
        </button>
        <Side label="Head" refs={refs} chosen={head} onChoose={(chosen) => change({ head: chosen })} />
        <Check
          label="Compare the two trees directly"
          isChecked={isDirect}
          onChange={() => change({ direct: isDirect ? '' : 'true' })}
        />
      </div>
      {base === '' || head === '' ? (
        <p class="quiet">
          Choose the {head === '' ? 'head' : 'base'}: a branch, a tag, or another commit that is compared with{' '}
          <Given text={shortName(base === '' ? head : base) || 'the base'} />.
        </p>
      ) : (
        <Result name={record.name} base={base} head={head} isDirect={isDirect} />
      )}
    </div>
  );
}

/**
 * Value of the option that shows a text field for a commit id or another revision. No ref has this name, because Git
 * allows no question marks in the names of refs.
 */
const TYPED = '?';

interface SideProps {
  readonly label: string;
  readonly refs: readonly RefRecord[];
  readonly chosen: string;
  readonly onChoose: (revision: string) => void;
}

/** Choice of a ref, or of any other revision that the user types. */
function Side({ label, refs, chosen, onChoose }: SideProps) {
  const [isTyping, setTyping] = useState(false);
  const [text, setText] = useState('');
  const use = (revision: string) => {
    setTyping(false);
    onChoose(revision);
  };
  return (
    <>
      <RefChoice
        label={label}
        refs={refs}
        chosen={isTyping ? TYPED : chosen}
        first={[...(chosen === '' ? [['', 'Choose…'] as const] : []), [TYPED, 'Other commit…']]}
        onChoose={(value) => (value === TYPED ? setTyping(true) : use(value))}
      />
      {isTyping && (
        <Form class="inline" submit="Use" act={() => text.trim() !== '' && use(text.trim())}>
          <TextField
            label={<span class="visually-hidden">Commit of {label.toLowerCase()}</span>}
            placeholder="Commit id, or such as main~2"
            value={text}
            onChange={setText}
          />
        </Form>
      )}
    </>
  );
}

interface ResultProps {
  readonly name: string;
  readonly base: string;
  readonly head: string;
  readonly isDirect: boolean;
}

function Result({ name, base, head, isDirect }: ResultProps) {
  const path = route`repositories/${name}/compare`;
  const load = (file: FileQuery, signal?: AbortSignal) =>
    get<Comparison>(path, { query: { base, head, direct: isDirect, ...file }, signal });
  const { value, error } = useLoaded((signal) => load({}, signal), [path, base, head, isDirect]);
  if (value === undefined || error !== undefined) return <Loading value={value} error={error} />;
  const { merge_base, diff } = value;
  const names = { base: shortName(base), head: shortName(head) };
  return (
    <>
      <p role="status" class="figures">
        <Given text={comparisonText(value, names)} most={1_000} />
        {merge_base !== null && value.base !== value.head && (
          <>
            {' '}
            Merge base: <CommitLink name={name} oid={merge_base} />
          </>
        )}
      </p>
      {value.ahead > 0 && <Commits name={name} head={head} comparison={value} />}
      {diff === null ? (
        <p class="quiet">Without a merge base, only the two trees can be compared: use the check box above.</p>
      ) : (
        <section class="diff" aria-label="Changes">
          <h2 class="figures">
            <ChangeCounts {...diff.stats} />
          </h2>
          <ChangedFiles name={name} diff={diff} load={async (file) => (await load(file)).diff!} />
        </section>
      )}
    </>
  );
}

function CommitLink({ name, oid }: { readonly name: string; readonly oid: string }) {
  return (
    <a class="mono" href={writePlace('repository', { name, tab: 'commits', commit: oid })}>
      {oid.slice(0, 12)}
    </a>
  );
}

interface CommitsProps {
  readonly name: string;
  readonly head: string;
  readonly comparison: Comparison;
}

/** Commits that only `head` has. */
function Commits({ name, head, comparison: { commits: items, ahead } }: CommitsProps) {
  const label = `${commits(ahead)} only in head`;
  return (
    <section aria-label={label}>
      <h2 class="figures">{label}</h2>
      <Table
        label="Commits only in head"
        class="compare-commits"
        isHeadHidden
        items={items}
        keyOf={({ oid }) => oid}
        columns={[
          [
            'Subject',
            ({ oid, subject }) => (
              <a href={writePlace('repository', { name, tab: 'commits', ref: head, commit: oid })}>
                {subject === '' ? <span class="quiet">no message</span> : <GivenCell text={subject} />}
              </a>
            ),
            'cell-name',
          ],
          ['Author', ({ author }) => <GivenCell text={author} most={60} />, 'extra'],
          ['Committed', ({ committed_at }) => <CommitTime at={committed_at} />, 'quiet'],
          ['Commit', ({ oid }) => <code class="quiet">{oid.slice(0, 8)}</code>, 'extra'],
        ]}
      />
      {ahead > items.length && <p class="quiet">and {commits(ahead - items.length)} more</p>}
    </section>
  );
}
