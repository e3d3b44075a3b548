import type { HostFlags } from './built-in-hosts.js';
import { openProxy } from './connect-proxy.js';
import { proxyVariables, readOuterProxy, trustVariables, writeTrust } from './proxied-environment.js';
import type { Terminal } from './terminal.js';

interface Ports {
  /** Port at which the emulator serves, over TLS, host names built into clients (`--api-host`, `--git-host`). */
  readonly port: number;
  readonly trust: string;
  readonly environment: Terminal['environment'];
  readonly terminal: Terminal;
}

/** Environment variables and temporary folder with which the program of `emulator exec` reaches the emulator. */
export interface ExecEnvironment {
  readonly variables: Readonly<Record<string, string>>;
  /** Folder that is removed at the end of the run. */
  readonly folder: string;
  close(): Promise<void>;
}

/** Writes the certificates that clients must trust. Opens a proxy if `built` names hosts built into clients. */
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
