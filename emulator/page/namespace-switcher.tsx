import { listNamespaces, readAddresses } from './api/addresses.js';
import { API } from './api/client.js';
import { Choice } from './components/fields.js';
import { useLoaded } from './components/loaded.js';

/** Host name of a namespace on the emulator's port: `ns-1.ns.localhost`. */
const NAMED = /^([^.]+)\.ns\.localhost$/;

/** Returns the address of the emulator's default page; undefined if the page is not at the host name of a namespace. */
export function mainPage(): string | undefined {
  if (!NAMED.test(API.hostname)) return undefined;
  const main = new URL(API);
  main.hostname = '127.0.0.1';
  return main.href;
}

/** Shows the namespace of the page, and links to the pages of other namespaces. */
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
