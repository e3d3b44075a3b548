import { listNamespaces, readAddresses } from './api/addresses.js';
import { API } from './api/client.js';
import { Choice } from './components/fields.js';
import { useLoaded } from './components/loaded.js';

/**
 * Pattern for the host name of a namespace (isolated world), such as `ns-1.ns.localhost`. Clients reach the namespace
 * by this name at the port of the emulator's first world.
 */
const NAMED = /^([^.]+)\.ns\.localhost$/;

/**
 * Returns the URL of the web page of the emulator's first world, which is at `127.0.0.1` with the port of this page.
 * Returns undefined if the host of this page does not belong to a namespace.
 */
export function mainPage(): string | undefined {
  if (!NAMED.test(API.hostname)) return undefined;
  const main = new URL(API);
  main.hostname = '127.0.0.1';
  return main.href;
}

/**
 * Shows the id of the namespace (isolated world) to which the page belongs. The page of the first world shows links to
 * the pages of all namespaces instead.
 */
export function NamespaceSwitcher() {
  const { value: namespaces, reload } = useLoaded(listNamespaces, []);
  const { value: addresses } = useLoaded(readAddresses, []);
  if (addresses?.namespace !== undefined) return <InNamespace id={addresses.namespace} />;
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
      options={[['', `main (${API.host})`], ...options]}
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
      {main !== undefined && <a href={main}>Main page</a>}
    </span>
  );
}
