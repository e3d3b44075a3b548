import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { openProxy } from './connect-proxy.js';

/** Opens a tunnel (HTTP CONNECT) through a proxy. Returns the sockets of the client and the server at its two ends. */
async function openTunnel(t: Test, halfOpenTimeout: number): Promise<{ client: Socket; server: Socket }> {
  const listener = createServer({ allowHalfOpen: true });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  t.teardown(() => listener.close());
  const { port } = listener.address() as AddressInfo;
  const hosts = ['git.example.test'];
  const proxy = await openProxy({ hosts, passed: [], through: () => undefined, port, onRefused() {}, halfOpenTimeout });
  t.teardown(() => proxy.close());
  const { port: proxyPort, username, password } = new URL(proxy.url);
  const client = connect({ port: Number(proxyPort), host: '127.0.0.1', allowHalfOpen: true });
  const credential = Buffer.from(`${username}:${password}`).toString('base64');
  client.write(`CONNECT git.example.test:443 HTTP/1.1\r\nProxy-Authorization: Basic ${credential}\r\n\r\n`);
  const [[server], [response]] = (await Promise.all([once(listener, 'connection'), once(client, 'data')])) as [
    [Socket],
    [Buffer],
  ];
  t.match(`${response}`, /^HTTP\/1\.1 200 /);
  return { client, server };
}

t.test('a tunnel ends when one side has ended and the other is silent', async (t) => {
  for (const ending of ['client', 'server'] as const) {
    const { client, server } = await openTunnel(t, 50);
    const [ended, silent] = ending === 'client' ? [client, server] : [server, client];
    ended.end('the last bytes');
    t.equal(`${(await once(silent, 'data'))[0]}`, 'the last bytes', ending);
    // Wait until the proxy closes this connection. Only the proxy can close it, because the silent side keeps its half
    // open.
    await once(ended.resume(), 'close');
    silent.destroy();
  }
});

t.test('a tunnel with one ended side passes on what the other sends', async (t) => {
  const { client, server } = await openTunnel(t, 10_000);
  client.end('question');
  await once(server, 'data');
  server.end('answer');
  let response = '';
  for await (const piece of client) response += piece;
  t.equal(response, 'answer');
});
