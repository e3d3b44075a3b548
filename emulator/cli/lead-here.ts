import type { HostFlags } from './built-in-hosts.js';
import { openProxy } from './connect-proxy.js';
import { proxyVariables, writeTrust } from './proxied-environment.js';
import type { Terminal } from './terminal.js';

interface Ports {
  readonly port: number;
  readonly trust: string;
  readonly environment: Terminal['environment'];
  readonly terminal: Terminal;
}

/** What leads the clients of one run here. */
export interface Way {
  readonly variables: Readonly<Record<string, string>>;
  /** Folder that is removed at the end. */
  readonly folder: string;
  close(): Promise<void>;
}

/** Opens the proxy for hosts that clients have built in, and writes what they have to trust. */
export async function leadHere(
  { api, git, passed }: HostFlags,
  { port, trust, environment, terminal }: Ports,
): Promise<Way> {
  const hosts = [...new Set([...api, ...git])];
  const file = await writeTrust(trust, environment);
  try {
    const onRefused = (host: string) => {
      terminal.warn(`A connection to ${host} was refused; --proxy-pass ${host} lets it through.\n`);
    };
    const proxy = await openProxy({ hosts, passed, port, onRefused });
    const { variables, dropped } = proxyVariables(environment, { url: proxy.url, hosts, file: file.file });
    if (dropped.length > 0) {
      terminal.warn(`Left out of no_proxy, as it covers a host that is served here: ${dropped.join(', ')}.\n`);
    }
    const close = async () => {
      await Promise.all([proxy.close(), file.remove()]);
    };
    return { variables, folder: file.folder, close };
  } catch (error) {
    await file.remove();
    throw error;
  }
}
