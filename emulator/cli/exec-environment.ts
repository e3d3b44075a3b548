import type { HostFlags } from './built-in-hosts.js';
import { openProxy } from './connect-proxy.js';
import { proxyVariables, readOuterProxy, trustVariables, writeTrust } from './proxied-environment.js';
import type { Terminal } from './terminal.js';

interface Ports {
  /** TLS port on which the emulator serves the host names built into clients (`--api-host`, `--git-host`). */
  readonly port: number;
  readonly trust: string;
  readonly environment: Terminal['environment'];
  readonly terminal: Terminal;
}

/** Environment variables and a temporary folder that the program of `emulator exec` needs to reach the emulator. */
export interface ExecEnvironment {
  readonly variables: Readonly<Record<string, string>>;
  /** Temporary folder, removed at the end of the run. */
  readonly folder: string;
  close(): Promise<void>;
}

/**
 * Writes the certificates that the program must trust. Opens a proxy if `built` names hosts that are built into
 * clients.
 */
export async function prepareExecEnvironment(
  built: HostFlags | undefined,
  { port, trust, environment, terminal }: Ports,
): Promise<ExecEnvironment> {
  const file = await writeTrust(trust, environment);
  const variables = trustVariables(file.file);
  if (!built) return { variables, folder: file.folder, close: () => file.remove() };
  try {
    const { api, git, passed } = built;
    const hosts = [...new Set([...api, ...git])];
    const through = passed.length > 0 ? readOuterProxy(environment) : () => undefined;
    const onRefused = (host: string) => {
      terminal.warn(`A connection to ${host} was refused. Add --proxy-pass ${host} to allow it.\n`);
    };
    const proxy = await openProxy({ hosts, passed, through, port, onRefused });
    const proxied = proxyVariables(environment, { url: proxy.url, hosts });
    if (proxied.dropped.length > 0) {
      terminal.warn(`Removed from no_proxy, because the emulator serves these hosts: ${proxied.dropped.join(', ')}.\n`);
    }
    const close = async () => {
      await Promise.all([proxy.close(), file.remove()]);
    };
    return { variables: { ...variables, ...proxied.variables }, folder: file.folder, close };
  } catch (error) {
    await file.remove();
    throw error;
  }
}
