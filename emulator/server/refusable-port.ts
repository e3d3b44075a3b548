import type http from 'node:http';
import net, { type AddressInfo } from 'node:net';

/** Pause in milliseconds before the port is bound again, if another process has bound it meanwhile. */
const RETRY = 50;

/**
 * Port of a server that can refuse connections for a time, as if the server had stopped. The operating system refuses a
 * connection only if nobody listens, so the server stops listening. Open connections continue.
 */
export class RefusablePort {
  /** Timer that ends the refusal; undefined while the server listens. */
  private timer: NodeJS.Timeout | undefined;
  /** Listeners of the event `close`. They are detached during the refusal, because the server is not really closed. */
  private detached: ((...given: unknown[]) => void)[] = [];

  constructor(private readonly server: http.Server) {
    const close = server.close.bind(server);
    server.close = (callback) => {
      this.end();
      return close(callback);
    };
  }

  /** Refuses all new connections for `ms` milliseconds of real time. Does nothing if the port already refuses. */
  refuse(ms: number): void {
    const { server } = this;
    const address = server.address() as AddressInfo | null;
    if (this.timer !== undefined || address === null) return;
    this.detached = server.rawListeners('close') as (typeof this.detached)[number][];
    server.removeAllListeners('close');
    // Not `http.Server.close`, which would also close idle connections.
    net.Server.prototype.close.call(server);
    this.timer = setTimeout(() => this.listen(address), ms);
  }

  private listen(address: AddressInfo): void {
    const retry = (): void => {
      this.timer = setTimeout(() => this.listen(address), RETRY);
    };
    this.server.once('error', retry);
    this.server.listen({ port: address.port, host: address.address }, () => {
      this.server.off('error', retry);
      this.end();
    });
  }

  /** Ends the refusal without listening, and attaches the listeners again. */
  private end(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    for (const listener of this.detached.splice(0)) this.server.on('close', listener);
  }
}
