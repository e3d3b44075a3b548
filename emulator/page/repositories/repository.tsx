import type { RepositoryRecord } from '@emulator/admin/repositories.js';
import type { RefRecord } from '@emulator/admin/repository-refs.js';
import type { StateView } from '@emulator/admin/state.js';
import { useReducer } from 'preact/hooks';
import { ownAddress, readAddresses } from '../api/addresses.js';
import { all, get, route } from '../api/client.js';
import { Given } from '../components/given.js';
import { useTitle } from '../components/hooks.js';
import { Empty, Loading, useLoaded } from '../components/loaded.js';
import { markedText } from '../components/marked-text.js';
import { ownValue } from '../components/own-value.js';
import { place, writePlace } from '../place.js';
import { Commits } from './commits.js';
import { Compare } from './compare.js';
import { Files } from './files.js';
import { Notes } from './notes.js';
import { Overview } from './overview.js';
import type { Opened } from './records.js';
import { shortName } from './ref-choice.js';
import { Refs } from './refs.js';
import { StateLabel } from './state.js';

const TABS = [
  { tab: '', title: 'Overview', Part: Overview },
  { tab: 'commits', title: 'Commits', Part: Commits },
  { tab: 'compare', title: 'Compare', Part: Compare },
  { tab: 'files', title: 'Files', Part: Files },
  { tab: 'refs', title: 'Refs', Part: Refs },
  { tab: 'notes', title: 'Notes', Part: Notes },
] as const;

/**
 * Section of the web page that shows one repository in several tabs. Its URL is
 * `#/repository?name=team/app&tab=commits`.
 */
export function View() {
  const { name } = place.value.params;
  if (name === undefined)
    return (
      <p>
        Select one in the <a href={writePlace('repositories')}>repositories</a>.
      </p>
    );
  const { organization } = place.value.params;
  if (organization === undefined) return <Repository key={name} name={name} />;
  return <RepositoryOf key={`${organization} ${name}`} organization={organization} name={name} />;
}

/**
 * Shows a repository of the given organization. If this page belongs to another organization, it shows a link to the
 * page of the repository's organization instead. Each organization has its own address.
 */
function RepositoryOf({ organization, name }: { readonly organization: string; readonly name: string }) {
  const { value, error } = useLoaded(readAddresses, []);
  if (!value) return <Loading value={value} error={error} />;
  const addresses = value.orgs;
  const other = addresses.find(({ org }) => org === organization);
  if (other === undefined || other === ownAddress(addresses)) return <Repository name={name} />;
  const url = `${other.base_url}${location.pathname}${writePlace('repository', { ...place.value.params, name })}`;
  return (
    <Empty title="This repository belongs to another organization">
      <p>
        <Given text={name} most={200} /> is a repository of <Given text={organization} />, which has its own page:{' '}
        <a href={url}>go there</a>.
      </p>
    </Empty>
  );
}

/** Returns the part of the page's title that names what a tab shows; undefined for a whole tab. */
function detailOf(tab: string, { commit, path, base, head }: Readonly<Record<string, string>>): string | undefined {
  if (tab === 'commits' && commit) return `Commit ${commit.slice(0, 12)}`;
  if (tab === 'compare' && head) return `Compare ${base ? `${shortName(base)} with ` : ''}${shortName(head)}`;
  return tab === 'files' && path ? path : undefined;
}

function Repository({ name }: { readonly name: string }) {
  const { params } = place.value;
  const [times, reloadParts] = useReducer((before: number) => before + 1, 0);
  const { value, error, reload } = useLoaded(
    async (signal): Promise<Opened> => {
      const record = await get<RepositoryRecord>(route`repositories/${name}`, { signal });
      const { repositories } = await get<StateView>('state', { signal });
      const refs = await all<RefRecord>(route`repositories/${name}/refs`, { query: { limit: 1000 }, signal });
      return { record, state: ownValue(repositories, name) ?? { state: 'active' }, refs };
    },
    [name],
  );
  const asked = params.tab ?? (params.commit === undefined ? '' : 'commits');
  const { tab, title, Part } = TABS.find((one) => one.tab === asked) ?? TABS[0];
  const detail = detailOf(tab, params) ?? title;
  useTitle(markedText(`${name}: ${detail}`));
  return (
    <div class="repository fill">
      <header class="repository-head">
        <h1>
          <a href={writePlace('repositories')} class="quiet">
            Repositories
          </a>{' '}
          / <Given text={name} most={200} />
        </h1>
        {value && <StateLabel state={value.state.state} />}
        <nav class="tabs" aria-label="Parts of the repository">
          {TABS.map((one) => (
            <a
              key={one.tab}
              href={writePlace('repository', { name, tab: one.tab })}
              aria-current={one.tab === tab ? 'page' : undefined}
            >
              {one.title}
            </a>
          ))}
        </nav>
        <button
          type="button"
          class="small"
          onClick={() => {
            reload();
            reloadParts(undefined);
          }}
        >
          Reload
        </button>
      </header>
      <Loading value={value} error={error} />
      {value?.record.state === 'deleted' ? (
        <Empty title="The repository was deleted">
          <p>
            Its refs and objects are gone. The name is free: <a href={writePlace('repositories')}>create it again</a>.
          </p>
        </Empty>
      ) : (
        value && (
          <div class="repository-part" key={`${tab} ${times}`}>
            <Part opened={value} />
          </div>
        )
      )}
    </div>
  );
}
