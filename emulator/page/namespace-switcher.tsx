import { signal } from '@preact/signals';
import { listNamespaces, ownNamespace } from './api/addresses.js';
import { API } from './api/client.js';
import { Choice } from './components/fields.js';
import { useLoaded } from './components/loaded.js';

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

/** Says which namespace the page is of, and leads to the pages of others: each has its own. */
export function NamespaceSwitcher() {
  const { value: namespaces, reload } = useLoaded(listNamespaces, [], namespaceChanges.value);
  const { value: own } = useLoaded(ownNamespace, []);
  if (own !== undefined) return <InNamespace id={own} />;
  if (namespaces === undefined || namespaces.length === 0) return null;
  const choose = (url: string) => {
    if (url !== '') location.assign(url);
  };
  const options = namespaces.map(({ id, admin_url }) => [`${admin_url}/`, id] as const);
  return (
    <Choice
      label="Namespace"
      fieldClass="namespaces"
      value=""
      options={[['', API.host], ...options]}
      onFocus={reload}
      onChange={choose}
    />
  );
}

function InNamespace({ id }: { readonly id: string }) {
  const main = mainPage();
  return (
    <span class="namespaces">
      Namespace <strong>{id}</strong> at {API.host}
      {main !== undefined && <a href={main}>All</a>}
    </span>
  );
}
