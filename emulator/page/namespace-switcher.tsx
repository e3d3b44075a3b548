import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { API, ApiError, all } from './api/client.js';
import { useLoaded } from './components/loaded.js';

/** A namespace as `GET namespaces` lists it. */
interface Namespace {
  readonly id: string;
  readonly admin_url: string;
}

/** `ns-1.ns.localhost`: a namespace on the port of the emulator. */
const NAMED = /^([^.]+)\.ns\.localhost$/;

/** The page of the emulator itself, as far as the address of a namespace tells it. */
export function mainPage(): string | undefined {
  if (!NAMED.test(API.hostname)) return undefined;
  const main = new URL(API);
  main.hostname = '127.0.0.1';
  return main.href;
}

/** Counts how often the page made or removed one. */
export const namespaceChanges = signal(0);

/** Undefined in a namespace, which knows of no other one. */
async function listNamespaces(signal: AbortSignal): Promise<Namespace[] | undefined> {
  try {
    return await all<Namespace>('namespaces', { signal });
  } catch (error) {
    return error instanceof ApiError && error.status === 404 ? undefined : [];
  }
}

/** Says which namespace the page is of, and leads to the pages of others: each has its own. */
export function NamespaceSwitcher() {
  const { value, reload } = useLoaded(async (signal) => ({ list: await listNamespaces(signal) }), []);
  const changes = namespaceChanges.value;
  useEffect(reload, [changes]);
  if (value === undefined) return null;
  if (value.list === undefined) return <InNamespace />;
  if (value.list.length === 0) return null;
  const choose = (url: string) => {
    if (url !== '') location.assign(url);
  };
  return (
    <label class="namespaces">
      Namespace
      <select value="" onFocus={reload} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        <option value="">{API.host}</option>
        {value.list.map(({ id, admin_url }) => (
          <option key={id} value={`${admin_url}/`}>
            {id}
          </option>
        ))}
      </select>
    </label>
  );
}

function InNamespace() {
  const [, id] = NAMED.exec(API.hostname) ?? [];
  const main = mainPage();
  return (
    <span class="namespaces">
      Namespace <strong>{id ?? API.host}</strong>
      {main !== undefined && <a href={main}>All</a>}
    </span>
  );
}
