import type { Remote } from './remote.js';

/** The admin routes of an emulator. */
export class Admin {
  constructor(readonly remote: Remote) {}

  /** The JSON of an answer. Throws for an error. */
  async ask(method: string, path: string, json?: unknown): Promise<unknown> {
    const answer = await this.remote.client.request(`/_emulator/${path}`, {
      method,
      keepsBody: true,
      ...(json !== undefined && {
        headers: { 'content-type': 'application/json' },
        body: Buffer.from(JSON.stringify(json)),
      }),
    });
    const text = answer.body.toString();
    if (answer.status >= 300) throw new Error(`${method} ${path} was answered with ${answer.status}: ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  }

  async add(path: string, json?: unknown): Promise<string> {
    const { id } = (await this.ask('POST', path, json)) as { id: string };
    return id;
  }
}
