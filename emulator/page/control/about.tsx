import { type Address, readAddresses } from '../api/addresses.js';
import { get, urlOf } from '../api/client.js';
import { Copy } from '../components/copy.js';
import { type Fact, Facts } from '../components/facts.js';
import { Loading, useLoaded } from '../components/loaded.js';
import { Commands } from './command.js';

/** Part of the emulator's web page that shows the version, addresses, CA certificate and documents of the emulator. */
export function About() {
  const loaded = useLoaded(async (signal) => {
    const { orgs: addresses } = await readAddresses(signal);
    // The CA certificate is fetched only if an address is served over HTTPS. Otherwise the emulator has no certificate.
    const isSecure = addresses.some(({ https_base_url }) => https_base_url !== undefined);
    return {
      version: await get<{ version: string; api: string }>('version', { signal }),
      addresses,
      certificate: isSecure ? await get<{ certificate: string }>('ca', { signal }) : undefined,
    };
  }, []);
  if (loaded.value === undefined) return <Loading {...loaded} />;
  const { version, addresses, certificate } = loaded.value;
  return (
    <>
      <Facts
        facts={[['repohost-emulator', version.version], ['API version', version.api], ...addresses.flatMap(factsOf)]}
      />
      <p>
        This page is a client of the admin API. <a href={urlOf('openapi.json').href}>openapi.json</a> describes the
        admin API and the API of the service.
      </p>
      {certificate && (
        <>
          <h2>CA certificate that HTTPS clients must trust</h2>
          <Copy text={certificate.certificate} />
        </>
      )}
      <Commands lines={[['status'], ['env'], ...(certificate ? [['ca']] : [])]} />
    </>
  );
}

function factsOf({ org, base_url, git_url, https_base_url }: Address): readonly Fact[] {
  return [
    [`${org}, base URL`, base_url],
    [`${org}, Git URL`, git_url !== base_url && git_url],
    [`${org}, HTTPS URL`, https_base_url],
  ];
}
