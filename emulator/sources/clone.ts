import { bytesOf } from '../git/object/bytes.js';
import { Outbound } from '../http/outbound.js';
import { openUpstream, type Remote } from '../upstream/fetch-client.js';
import { type HistorySource, TAKEN_REFS } from './history-source.js';

export interface CloneOptions {
  /** Maximum time without any data from the remote, in milliseconds of real time. */
  readonly timeout: number;
}

/**
 * Connects to a Git repository at an HTTP URL, from which a repository of the emulator is filled. Any host is allowed,
 * because the user of the emulator gave the URL. Rejects with `UpstreamError`.
 */
export async function openClone(given: URL, { timeout }: CloneOptions): Promise<HistorySource> {
  const url = new URL(given);
  const [username, password] = [url.username, url.password].map(decodeURIComponent);
  url.username = '';
  url.password = '';
  url.search = '';
  url.hash = '';
  url.pathname = url.pathname.replace(/\/+$/, '');
  const outbound = new Outbound([url.hostname]);
  const basic = Buffer.from(`${username}:${password}`).toString('base64');
  const remote: Remote = {
    url,
    authorization: username === '' && password === '' ? undefined : `Basic ${basic}`,
    outbound,
    signal: new AbortController().signal,
    timeout,
  };
  try {
    const session = await openUpstream(remote);
    const refs = await session.listRefs(TAKEN_REFS.map(bytesOf));
    const head = await session.findHead();
    const wants = [...new Set(refs.map(({ oid }) => oid))];
    return {
      title: url.href,
      refs,
      head: head === undefined ? undefined : { symref: head },
      async *packs() {
        if (wants.length > 0) yield session.fetch({ wants, haves: [] });
      },
      close: () => outbound.close(),
    };
  } catch (error) {
    await outbound.close();
    throw error;
  }
}
