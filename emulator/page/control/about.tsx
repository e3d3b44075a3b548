import { Fragment } from 'preact';
import { readAddresses } from '../api/addresses.js';
import { get, urlOf } from '../api/client.js';
import { Copy } from '../components/copy.js';
import { Loading } from '../components/feedback.js';
import { useLoaded } from '../components/loaded.js';
import { Commands } from './command.js';

interface Version {
  readonly version: string;
  readonly api: string;
}

/** What this is, where it listens, and where more is written. */
export function About() {
  const { value, error } = useLoaded(async (signal) => {
    const addresses = await readAddresses(signal);
    // Without HTTPS there is nothing to trust.
    const isSecure = addresses.some(({ https_base_url }) => https_base_url !== undefined);
    return {
      version: await get<Version>('version', { signal }),
      addresses,
      certificate: isSecure ? await get<{ certificate: string }>('ca', { signal }) : undefined,
    };
  }, []);
  if (value === undefined) return <Loading value={value} error={error} />;
  const { version, addresses, certificate } = value;
  return (
    <>
      <dl class="facts">
        <dt>repohost-emulator</dt>
        <dd>{version.version}</dd>
        <dt>API</dt>
        <dd>{version.api}</dd>
        {addresses.map(({ org, base_url, git_url, https_base_url }) => (
          <Fragment key={org}>
            <dt>{org}</dt>
            <dd>
              <code>{base_url}</code>
              {git_url !== base_url && (
                <>
                  , Git at <code>{git_url}</code>
                </>
              )}
              {https_base_url !== undefined && (
                <>
                  , HTTPS at <code>{https_base_url}</code>
                </>
              )}
            </dd>
          </Fragment>
        ))}
      </dl>
      <p>
        Everything on this page is asked of the admin API. <a href={urlOf('openapi.json').href}>openapi.json</a>{' '}
        describes it, and the API of the service.
      </p>
      {certificate && (
        <>
          <h2>Certificate to trust for HTTPS</h2>
          <Copy text={certificate.certificate} />
        </>
      )}
      <Commands lines={[['status'], ['env'], ...(certificate ? [['ca']] : [])]} />
    </>
  );
}
